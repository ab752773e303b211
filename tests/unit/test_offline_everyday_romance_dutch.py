"""Everyday French, Spanish, Portuguese, Italian and Dutch about the agent's work, and its look-alikes."""

from __future__ import annotations

from skilld.classify.backends.offline import Offline
from skilld.types import Message, Update
from support.rows import for_each

HEARD = """
lance toujours le linter avant de commit => Lance toujours le linter avant de commit.
demande avant de push => Demande avant de push.
ne commit jamais sur main => Ne commit jamais sur main.
réponds en français => Réponds en français.
je n'aime pas les fonctions longues => Je n'aime pas les fonctions longues.
il faut toujours passer par une branche => Il faut toujours passer par une branche.
nada de emojis en los commits => Nada de emojis en los commits.
pregunta antes de hacer push => Pregunta antes de hacer push.
no commitees nunca en main => No commitees nunca en main.
ya te dije: nada de console.log => Nada de console.log.
responde más corto => Responde más corto.
sé más breve => Sé más breve.
responde en español => Responde en español.
no me gustan las funciones largas => No me gustan las funciones largas.
siempre hay que trabajar en una rama => Siempre hay que trabajar en una rama.
no adivines, compruébalo => No adivines, compruébalo.
nada de emojis nos commits => Nada de emojis nos commits.
sempre rode o linter antes de commitar => Sempre rode o linter antes de commitar.
pergunte antes de fazer push => Pergunte antes de fazer push.
nunca commite na main => Nunca commite na main.
já te falei: nada de console.log => Nada de console.log.
seja mais breve => Seja mais breve.
responde em português => Responde em português.
sempre tem que trabalhar numa branch => Sempre tem que trabalhar numa branch.
não adivinhe, verifique => Não adivinhe, verifique.
niente commenti nel codice => Niente commenti nel codice.
niente emoji nei commit => Niente emoji nei commit.
esegui sempre il linter prima di committare => Esegui sempre il linter prima di committare.
chiedi prima di fare push => Chiedi prima di fare push.
non committare mai su main => Non committare mai su main.
rispondi in italiano => Rispondi in italiano.
bisogna sempre lavorare su un branch => Bisogna sempre lavorare su un branch.
non indovinare, controlla => Non indovinare, controlla.
draai altijd de linter voor een commit => Draai altijd de linter voor een commit.
vraag eerst voordat je pusht => Vraag eerst voordat je pusht.
commit nooit op main => Commit nooit op main.
hou op met overal commentaar toevoegen => Hou op met overal commentaar toevoegen.
we werken altijd op een branch => We werken altijd op een branch.
apúntatelo: los tiempos se miden en el móvil => Los tiempos se miden en el móvil.
anota aí: os testes de carga rodam na máquina de staging => Os testes de carga rodam na máquina de staging.
segnatelo: i grafici vanno in svg => I grafici vanno in svg.
note-le une bonne fois pour toutes : les graphiques en svg => Les graphiques en svg.
désormais c'est la règle : une trace douteuse, tu la mets de côté => Une trace douteuse, tu la mets de côté.
de ahora en adelante es la regla: los gráficos en svg => Los gráficos en svg.
apúntalo en el CLAUDE pa que no se repita: las capturas se toman en 375 => Las capturas se toman en 375.
règle à garder, pour tous les clients : l'alt est une vraie phrase => L'alt est une vraie phrase.
ricordati che i nomi sono in inglese, sempre: potion_health => I nomi sono in inglese, sempre: potion_health.
"""

LEFT_ALONE = """
le message de commit est en anglais, c'est bon ?
pas de problème
pas de commentaires sur la maquette
lance le linter stp
utilise pnpm pour installer lodash
on est sur la page profil là
push pas encore
ne touche à rien, je regarde
arrête
encore une erreur
la réponse est trop longue pour le champ
sois plus précis
réponds au client en français
pas de résumé dans le mail
je n'ai pas besoin de ça
montre d'abord le menu, ensuite le contenu
quand tu cliques sur le bouton, une fenêtre s'ouvre
si tu veux
chaque fonction prend un paramètre de plus maintenant
tous les composants sont cassés
le numéro de facture va en haut à droite
deux espaces en trop ligne 12
je préfère la première version
je n'aime pas ce titre
je veux que tu testes ce hook
il faut redémarrer le serveur
c'est moi qui ai supprimé le fichier
el mensaje de commit está en inglés, ¿vale?
nada, gracias
sin comentarios sobre el diseño
pasa el linter porfa
usa pnpm para instalar lodash
estamos en la página de perfil
no hagas push todavía
no toques nada, estoy mirando
para
deja el botón como está
otra vez el mismo error
la respuesta es muy larga para el campo
sé más específico
sin resumen en el correo
no hace falta
primero el menú, luego el contenido
cuando haces clic en el botón se abre una ventana
si quieres
cada función recibe ahora un parámetro más
todos los componentes están rotos
el número de factura va arriba a la derecha
dos espacios de más en la línea 12
prefiero la primera versión
no me gusta ese título
quiero que pruebes este hook
hay que reiniciar el servidor
el archivo lo borré yo
a mensagem de commit está em inglês, ok?
nada, obrigado
sem comentários sobre o layout
roda o linter por favor
usa pnpm pra instalar o lodash
estamos na página de perfil
pergunta pro Paulo antes de apagar isso
não faz push ainda
não mexe em nada, estou olhando
deixa o botão como está
de novo o mesmo erro
a resposta é longa demais para o campo
seja mais específico
sem resumo no email
não precisa
primeiro o menu, depois o conteúdo
quando você clica no botão abre uma janela
se quiser
toda função agora recebe mais um parâmetro
todos os componentes estão quebrados
o número da fatura vai no canto direito
dois espaços sobrando na linha 12
prefiro a primeira versão
não gostei desse título
quero que você teste esse hook
tem que reiniciar o servidor
quem apagou o arquivo fui eu
il messaggio di commit è in inglese, va bene?
niente, grazie
lancia il linter per favore
usa pnpm per installare lodash
siamo sulla pagina profilo
non fare ancora push
non toccare niente, sto guardando
basta
lascia il bottone com'è
ti ho già detto che la build è rotta
di nuovo lo stesso errore
la risposta è troppo lunga per il campo
sii più specifico
rispondi al cliente in italiano
non serve
prima il menu, poi il contenuto
quando clicchi sul bottone si apre una finestra
se vuoi
ogni funzione adesso prende un parametro in più
tutti i componenti sono rotti
il numero della fattura va in alto a destra
due spazi di troppo alla riga 12
preferisco la prima versione
non mi piace questo titolo
voglio che testi questo hook
bisogna riavviare il server
il file l'ho cancellato io
het commitbericht is in het Engels, goed?
geen idee
geen commentaar op het ontwerp
draai de linter even
gebruik pnpm om lodash te installeren
we zitten op de profielpagina
vraag het Piet voordat je dat verwijdert
nog niet pushen
blijf daar even vanaf, ik kijk
stop
laat de knop zo
ik zei toch dat de build kapot is
nogmaals dezelfde fout
het antwoord is te lang voor het veld
wees specifieker
antwoord de klant in het Nederlands
geen samenvatting in de mail
hoeft niet
eerst het menu, dan de inhoud
als je op de knop klikt opent er een venster
als je wil
elke functie krijgt nu een parameter extra
alle componenten zijn stuk
het factuurnummer hoort rechtsboven
twee spaties te veel op regel 12
ik heb liever de eerste versie
ik hou niet van die titel
ik wil dat je deze hook test
we moeten de server herstarten
ik heb het bestand zelf verwijderd
jamais été aussi contente d'une fonction
jamais vu un truc aussi propre
nunca estuve tan contento con un script
nooit zo'n mooie oplossing gezien
"""


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def _hear(said: str) -> list[Update]:
    messages = [Message("fix the price rounding in the cart", 1), Message("Done."), Message(said, 2)]
    return Offline().detect(messages, [])


@for_each("line", _lines(HEARD))
def test_everyday_wishes_are_heard_and_become_instructions(line: str) -> None:
    said, _, rule = line.partition(" => ")
    assert [(one.change, one.confidence >= 0.5) for one in _hear(said)][:1] == [(rule, True)]


@for_each("said", _lines(LEFT_ALONE))
def test_tasks_products_and_reports_in_like_words_are_left_alone(said: str) -> None:
    assert not _hear(said)
