"""Spanish, Portuguese, French and Italian cues."""

from __future__ import annotations

from skilld.classify.offline.cues.table import RULE_FILES, language

SPANISH = language(
    "es",
    openers=r"no|s[ií]|vale|ok|okay|dale|bueno|por favor|porfa|pero|y|e|gracias|perfecto|bien|ah|oye|che|recuerda que|ojo|mira|adem[aá]s|tambi[eé]n",
    frames=r"a partir de (?:ahora|hoy|aqu[ií])|de (?:ahora|aqu[ií]|hoy) en (?:adelante|m[aá]s)|desde ahora|en (?:el futuro|lo sucesivo|adelante)|la pr[oó]xima vez(?! que)|para la pr[oó]xima|para futuras? \w+",
    lasting=r"(?:la pr[oó]xima|cada) vez que (?!(?:el|la|los|las|un|una|se|yo|abro|entro|hago|ejecuto|intento)\b)\w+",
    never_again=r"nunca m[aá]s",
    adverb=r"siempre|nunca|jam[aá]s",
    subjects=r"el|la|los|las|lo|un|una|unos|unas|es|est[aá]|son|yo|me|te|se|le|nos|que|si|como|por|para|porque|cuando|donde|qu[eé]|casi|esto|eso|ese|esa|este|esta|mi|tu|su|hay|ha|he|fue|era|aparece|falla|funciona|sigue|sale|muestra|en|de|con",
    memory=rf"\b(?:recuerda|recu[eé]rdalo|acu[eé]rdate|record[aá]|ten en cuenta|memoriza) (?:siempre|que (?:siempre|nunca|debes)|de \w+ \w+|para (?:la pr[oó]xima|el futuro))|"
    rf"\b(?:a[nñ]ad\w*|agreg\w*|pon\w*|guard\w*|anot\w*|actualiz\w*|inclu\w*|escrib\w*|registr\w*)\b.{{0,50}}(?:{RULE_FILES}| (?:las|tus|mis|nuestras) (?:reglas|instrucciones|preferencias)| la memoria| como regla)",
    stop=r"^(?:deja|dejá|dej[aá]te|para|par[aá]) de \w+[rn]\b\s+\S|^no (?:vuelvas|volv[aá]s) a \w+|^ya no (?!(?:me|se|es|est[aá]|hay|funciona|puedo|quiero ver)\b)\w+s\b\s+\S|^no .* nunca m[aá]s",
    vetoes=r"por ahora|de momento|por el momento|esta vez|solo (?:por )?(?:esta|una) vez|por esta vez|quiz[aá]s?|tal vez|creo que|a lo mejor|hoy solo|tal vez",
    retracts=r"olv[ií]d(?:a|ate|alo|ate de|á|alo)\b|mejor no\b|cancela (?:eso|la regla)|ignora (?:eso|lo que)|no importa\b|retiro lo dicho|cambi[eé] de (?:idea|opini[oó]n)|al final no\b|deja(?:lo)? como estaba",
    asks=r"¿?\s*(?:qu[eé]|c[oó]mo|por qu[eé]|cu[aá]l(?:es)?|d[oó]nde|cu[aá]ndo|qui[eé]n|est[aá]|es|hay|deber[ií]a\w*|se puede)",
    told=r"(?:debes|ten[eé]s que|tienes que|hay que|quiero que|necesito que|aseg[uú]rate de(?: que)?|asegurate de(?: que)?|usa|us[aá]|no quiero que)",
)

PORTUGUESE = language(
    "pt",
    openers=r"n[aã]o|sim|ok|okay|por favor|pf|mas|e|obrigad[oa]|perfeito|bom|certo|beleza|ah|lembre-se|olha|tamb[eé]m|al[eé]m disso",
    frames=r"(?:a partir|daqui|de|desde) (?:de )?(?:agora|hoje|aqui)(?: em diante| para a frente| pra frente)?|daqui (?:em diante|pra frente|para a frente)|doravante|no futuro|futuramente|(?:d?a|na) pr[oó]xima vez(?! que)",
    lasting=r"(?:toda|cada|d?a pr[oó]xima) vez que (?!(?:o|a|os|as|um|uma|eu|abro|clico|se)\b)\w+|sempre que (?:voc[eê]|for|fizer|criar|alterar|mudar|escrever)",
    never_again=r"nunca mais",
    adverb=r"sempre|nunca|jamais",
    subjects=r"o|a|os|as|um|uma|é|est[aá]|s[aã]o|eu|me|se|ele|ela|que|como|porque|quando|onde|quase|isso|isto|este|esta|esse|essa|meu|minha|seu|sua|tem|foi|era|aparece|falha|funciona|continua|em|de|com|para",
    memory=rf"\b(?:lembre(?:-se)?|lembra|memorize|tenha em mente) (?:sempre|que (?:sempre|nunca|voc[eê] deve)|de \w+ \w+|para (?:a pr[oó]xima|o futuro))|"
    rf"\b(?:adicion\w*|acrescent\w*|coloqu\w*|coloca|guard\w*|salv\w*|anot\w*|atualiz\w*|inclu\w*|registr\w*|grav\w*)\b.{{0,50}}(?:{RULE_FILES}| (?:as|nas|às|suas|minhas|nossas) (?:regras|instru[cç][oõ]es|prefer[eê]ncias)| (?:na|à) mem[oó]ria| como regra)|\b(?:obrigat[oó]rio|inegoci[aá]vel)\b.*\b(?:tod[oa]s?|sempre|cada)\b",
    stop=r"^(?:pare|para|deixe) de \w+r\b\s+\S|^n[aã]o .* nunca mais|^n[aã]o (?:volte|torne) a \w+",
    vetoes=r"por enquanto|por agora|desta vez|dessa vez|s[oó] (?:desta|dessa|uma) vez|talvez|acho que|neste momento|provisoriamente",
    retracts=r"esque[cç]a\b|esquece\b|deixa (?:pra l[aá]|como est)|melhor n[aã]o\b|ignor[ea] (?:isso|o que)|mudei de ideia|cancel[ea] (?:isso|a regra)|retiro o que",
    asks=r"(?:o )?qu[eê]|como|por ?qu[eê]|qual|quais|onde|quando|quem|est[aá]|é|h[aá]|devo|deveria\w*",
    told=r"(?:voc[eê] (?:deve|precisa|tem que)|tem que|quero que|preciso que|certifique-se de(?: que)?|garanta que voc[eê])",
)

FRENCH = language(
    "fr",
    openers=r"non|oui|ok|okay|d'accord|s'il te pla[iî]t|s'il vous pla[iî]t|stp|svp|merci|mais|et|alors|parfait|bien|bon|ah|super|au fait|rappel",
    frames=r"d[eé]sormais|dor[eé]navant|[aà] (?:partir de maintenant|l'avenir|compter d'aujourd'hui)|[aà] partir d'(?:aujourd'hui|ici)|la prochaine fois(?! que)|dans le futur",
    lasting=r"(?:[aà] )?chaque fois que (?:tu|vous)|la prochaine fois que (?:tu|vous)",
    never_again=r"plus jamais",
    adverb=r"toujours|jamais|syst[eé]matiquement",
    subjects=r"le|la|les|l'\w+|un|une|des|du|de|il|elle|on|je|j'ai|c'est|ce|cet|cette|ces|ça|est|sont|qui|que|si|quand|comme|pourquoi|mon|ma|ton|ta|son|sa|y|en|à|presque|pas|pour|avec",
    memory=rf"\b(?:souviens-toi|rappelle-toi|retiens|n'oublie (?:pas|jamais)|garde en t[eê]te|m[eé]morise) (?:que|de|d'|bien|toujours|pour la prochaine)\s*\w+\s+\S|"
    rf"\b(?:ajoute|ajoutez|mets|mettez|note|notez|enregistre|inscris|[eé]cris|sauvegarde)\b.{{0,50}}(?:{RULE_FILES}| (?:aux|dans les|dans tes|dans nos) (?:r[eè]gles|instructions|pr[eé]f[eé]rences)| en m[eé]moire| comme r[eè]gle)",
    stop=r"^(?:arr[eê]te|arr[eê]tez|cesse|cessez) (?:de |d')\w+r?e?\b\s+\S|^ne .* plus jamais\b|^ne \w+ (?:plus|jamais) \S",
    vetoes=r"pour (?:l'instant|le moment|cette fois)|cette fois|juste une fois|peut-[eê]tre|je pense que|je crois que|temporairement|aujourd'hui seulement",
    retracts=r"oublie(?:z)?\b|laisse tomber|finalement non|annule (?:ça|cette r[eè]gle|ce que)|ignore (?:ça|ce que)|j'ai chang[eé] d'avis|en fait non|laisse comme",
    asks=r"qu'est-ce|est-ce|pourquoi|comment|quel(?:le)?s?|o[uù]|quand|qui|que|peut-on|faut-il|devrait-on",
    told=r"(?:tu (?:dois|devrais)|vous devez|il faut|je veux que tu|j'aimerais que tu|assure-toi de|veille [aà]|pense [aà]|ne)",
)

ITALIAN = language(
    "it",
    openers=r"no|s[iì]|ok|okay|va bene|per favore|perfavore|grazie|ma|e|allora|perfetto|bene|ah|ricorda che|inoltre|anche",
    frames=r"d'ora in (?:poi|avanti)|da (?:ora|adesso|oggi) in (?:poi|avanti)|in futuro|la prossima volta(?! che)",
    lasting=r"(?:ogni|la prossima) volta che (?!(?:il|la|lo|i|gli|le|un|una|si|io|clicco|apro)\b)\w+",
    never_again=r"mai pi[uù]",
    adverb=r"sempre|mai",
    subjects=r"il|lo|la|i|gli|le|un|uno|una|è|e'|sono|io|mi|ti|si|ci|che|se|come|perch[eé]|quando|dove|quasi|questo|quello|questa|quella|mio|mia|ha|ho|era|stato|in|di|con|per|da",
    memory=rf"\b(?:ricorda(?:ti)?|tieni a mente|memorizza) (?:sempre|di \w+ \w+|che (?:devi|non devi|sempre)|per la prossima)|"
    rf"\b(?:aggiung\w*|metti|salva|annota|scrivi|registra|aggiorna|inserisci)\b.{{0,50}}(?:{RULE_FILES}| (?:alle|nelle|le) (?:\w+ )?(?:regole|istruzioni|preferenze)| in memoria| come regola)",
    stop=r"^(?:smetti(?:la)?|smettila|basta) (?:di|con) \w+\s+\S|^non \w+ (?:mai(?: pi[uù])?|pi[uù]) \S|^non .* mai pi[uù]\b",
    vetoes=r"per ora|per adesso|per il momento|questa volta|solo (?:per )?(?:stavolta|una volta)|stavolta|forse|penso che|credo che",
    retracts=r"dimentica(?:lo|ti)?\b|lascia (?:perdere|stare|come)|anzi no\b|meglio di no|ignora (?:quello|ci[oò])|ho cambiato idea|annulla (?:quello|la regola)|come non detto",
    asks=r"(?:che )?cosa|come|perch[eé]|qual[ei]?|dove|quando|chi|[eè]|c'[eè]|dovrei|dovremmo|si pu[oò]",
    told=r"(?:devi|dovresti|voglio che tu|vorrei che tu|assicurati di|fai in modo di|non)",
)
