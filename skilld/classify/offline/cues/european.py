"""German, Russian, Czech and Polish cues."""

from __future__ import annotations

from skilld.classify.offline.cues.table import RULE_FILES, language

GERMAN = language(
    "de",
    openers=r"nein|ne|nee|ja|ok|okay|bitte|danke|aber|und|also|gut|super|prima|ach|übrigens|hinweis|wichtig|mach weiter|genau",
    frames=r"ab (?:jetzt|sofort|heute|hier)|von (?:jetzt|nun|heute) an|in zukunft|zukünftig|künftig|fortan|(?:beim?|das) nächste[sn]? mal(?!,? wenn)",
    lasting=r"(?:jedes|nächstes|das nächste) mal,? wenn (?:du|ihr|sie)|immer,? wenn (?:du|ihr|sie)|(?:vor|nach|bei) jede[mrn] (?:commit|push|änderung|merge|pr|pull request|release|aufgabe|schritt|test\w*)",
    never_again=r"nie (?:wieder|mehr)|niemals wieder",
    adverb=r"immer|nie|niemals|grundsätzlich|stets",
    subjects=r"der|die|das|den|dem|ein|eine|einen|es|er|sie|ich|wir|ist|sind|war|noch|fast|schon|dass|wenn|wie|warum|was|wo|wann|mein|meine|dein|da|so|in|auf|mit|für|zu|von|hat|habe|wird|und|oder|auch|hier|kommt|geht",
    memory=rf"\b(?:merk(?:e)? dir|denk(?:e)? (?:bitte )?(?:daran|dran)|vergiss nie)\b.{{0,10}}\S+\s+\S|"
    rf"\b(?:schreib\w*|füg\w*|nimm|speicher\w*|trag\w*|notier\w*|ergänz\w*|aktualisier\w*|pack\w*)\b.{{0,60}}(?:{RULE_FILES}|\b(?:die|den|deine|unsere|meine) (?:\w+)?(?:regeln|anweisungen|vorgaben)\b|\bals regel\b|\bins gedächtnis\b)",
    stop=r"^(?:hör|höre) (?:bitte )?auf,?\s.*\bzu \w+|^(?:bitte )?nie (?:wieder|mehr)\b|^(?:\w+\s+)?(?:bitte\s+)?(?:nie wieder|nie mehr) \S",
    vetoes=r"diesmal|dieses mal|vorerst|erstmal|fürs erste|nur (?:dieses|das eine) mal|ausnahmsweise|im moment|vielleicht|eventuell|ich glaube|ich denke|vorläufig|heute nur",
    retracts=r"vergiss (?:das|es|was|die)|doch nicht\b|lass (?:es|das)\b|egal,? |ignorier\w* (?:das|was)|hab(?:e)? es mir anders überlegt|nehme? (?:das|ich) .*zurück|streich das",
    asks=r"was|wie|warum|wieso|weshalb|welche[rsnm]?|wo|wann|wer|ist|sind|gibt|hat|soll(?:te|en|ten)?|kann man",
    told=r"(?:du (?:sollst|solltest|musst|darfst)|ich (?:will|möchte),? dass du|stell(?:e)? sicher,? dass du|achte darauf|verwende|benutze?|nutze?|mach(?:e)?|schreib(?:e)?)",
)

RUSSIAN = language(
    "ru",
    openers=r"нет|не|да|ок|окей|хорошо|ладно|пожалуйста|плиз|но|и|а|спасибо|отлично|супер|так|кстати|ещё|еще|напоминаю",
    frames=r"впредь|отныне|(?:с|начиная с) (?:этого момента|сегодняшнего дня)|в (?:дальнейшем|будущем|следующий раз)|на будущее",
    lasting=r"каждый раз,? когда (?:ты|вы|будешь)|(?:перед|после|при) (?:каждым|каждого|каждом|каждой) \w+",
    never_again=r"больше никогда|никогда больше",
    adverb=r"всегда|никогда|обязательно всегда|постоянно не",
    subjects=r"я|он|она|оно|они|мы|это|этот|эта|тот|у|в|на|с|по|как|что|если|когда|почему|где|почти|уже|так|такое|есть|был|была|было|мой|моя|все|всё|тут|там",
    memory=rf"\b(?:запомни(?:те)?|помни|имей в виду|учти на будущее|возьми за правило)\b[\s,:]*\S+\s+\S|"
    rf"\b(?:добав\w*|запиш\w*|внес\w*|сохран\w*|зафиксир\w*|пропиш\w*|обнов\w*)\b.{{0,50}}(?:{RULE_FILES}|\b(?:в|как) (?:\w+ )?(?:правил\w+|инструкци\w+|памят\w+|скилл?\w*|навык\w*))",
    stop=r"^(?:перестань|перестаньте|прекрати|хватит) \w+\s+\S|^(?:больше )?никогда (?:больше )?не \w+|^больше (?:так )?не \w+(?:й|и|йте|ите|ь)\b",
    vetoes=r"пока что|на этот раз|в этот раз|только (?:один раз|сейчас)|временно|может быть|возможно|думаю|наверное|кажется|сегодня",
    retracts=r"забудь\b|забей\b|отмен(?:и|яю) (?:это|правило|то)|не надо,? (?:я )?передумал|передумал|лучше не надо|игнорируй (?:это|то)|беру (?:свои )?слова назад|оставь как (?:было|есть)",
    asks=r"что|как|почему|зачем|какой|какие|какая|где|когда|кто|есть ли|можно ли|нужно ли|а что|а как|разве",
    told=r"(?:ты должен|вы должны|нужно|надо|необходимо|хочу,? чтобы ты|убедись,? что ты|следи,? чтобы|используй|пиши|делай|не)",
)

CZECH = language(
    "cs",
    openers=r"ne|jo|ano|ok|okay|okey|prosím|díky|dík|ale|a|tak|super|dobře|fajn|jinak|ještě|pokračuj(?:me)?",
    frames=r"od (?:teď|teďka|nynějška|této chvíle)|odteď|odteďka|napříště|příště|v budoucnu|do budoucna",
    lasting=r"pokaždé,? když|(?:po|před|při) (?:každém|každým|každé) (?:\w+ )?\w+",
    never_again=r"už nikdy|nikdy víc",
    adverb=r"vždy|vždycky|nikdy|pokaždé",
    subjects=r"to|ten|ta|je|jsou|byl|bylo|já|on|ona|ono|se|si|v|na|s|po|jak|co|když|proč|kde|kdy|skoro|už|mi|můj|moje|tam|tady|mám|má|nejde|pořád",
    memory=rf"\b(?:pamatuj(?: si)?|zapamatuj(?: si)?|měj na paměti)\b[\s,:]*\S+\s+\S|\b(?:přidej|přidat|zapiš|ulož|dopiš|doplň|uprav|aktualizuj|připiš)\b.{{0,50}}(?:{RULE_FILES}|\b(?:do|mezi|jako) (?:\w+ )?(?:pravid\w+|instrukc\w+|pamět\w+))",
    stop=r"^(?:přestaň|přestaňte|nech toho) \w+\s+\S|^(?:už )?nikdy (?:už )?ne\w+|^už (?:nikdy )?ne\w+[jeiň]\b\s+\S",
    vetoes=r"zatím|prozatím|tentokrát|jen (?:teď|jednou|tentokrát)|možná|asi|myslím|dnes|dočasně",
    retracts=r"zapomeň\b|kašli na|vlastně ne\b|raději ne\b|radši ne\b|rozmyslel|nech to (?:být|jak)|ignoruj (?:to|co)|zruš to",
    asks=r"co|jak|proč|jaký|jaká|jaké|který|která|které|kde|kdy|kdo|je|jsou|má|mám|můžu",
    told=r"(?:musíš|měl bys|chci,? abys|potřebuju,? abys|ujisti se|používej|piš|dělej)",
)

POLISH = language(
    "pl",
    openers=r"nie|tak|ok|okej|proszę|dzięki|ale|i|a|super|dobrze|fajnie|aha|poza tym|jeszcze",
    frames=r"od (?:teraz|tej pory|dziś|dzisiaj)|odtąd|na przyszłość|w przyszłości|następnym razem",
    lasting=r"za każdym razem,? (?:gdy|kiedy)|(?:po|przed|przy) każd(?:ym|ej) \w+",
    never_again=r"nigdy więcej|już nigdy",
    adverb=r"zawsze|nigdy",
    subjects=r"to|ten|ta|te|jest|są|był|było|ja|on|ona|ono|się|w|na|z|po|jak|co|kiedy|dlaczego|gdzie|prawie|już|mi|mój|moje|tam|tu|mam|ma|czy",
    memory=rf"\b(?:pamiętaj|zapamiętaj|miej na uwadze)\b[\s,:]*\S+\s+\S|\b(?:dodaj|zapisz|dopisz|zanotuj|zaktualizuj|wpisz)\b.{{0,50}}(?:{RULE_FILES}|\b(?:do|jako) (?:\w+ )?(?:zasad\w*|reguł\w*|instrukcji|pamięci))",
    stop=r"^(?:przestań|przestańcie|dość) \w+\s+\S|^(?:już )?nigdy (?:więcej )?nie \w+|^(?:już )?więcej nie \w+",
    vetoes=r"na razie|tym razem|tylko (?:raz|teraz)|tymczasowo|może|chyba|myślę|dzisiaj",
    retracts=r"zapomnij\b|nieważne\b|jednak nie\b|lepiej nie\b|zmieniłem zdanie|zmieniłam zdanie|zostaw (?:to )?(?:tak )?jak|zignoruj to|cofam to",
    asks=r"co|jak|dlaczego|jaki|jaka|jakie|który|która|które|gdzie|kiedy|kto|czy|jest",
    told=r"(?:musisz|powinieneś|chcę,? żebyś|upewnij się|używaj|pisz|rób)",
)
