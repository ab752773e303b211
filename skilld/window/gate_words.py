"""The words the gate goes by, in the languages people write to their agents in.

`HINTS` keep any sentence, even a question; `WISHES` keep every sentence but a question. The rest name chatter.
"""

from __future__ import annotations

ASSENTS = frozenset(
    "yes y ye yep yeah yup yea sure ok okay okey k kk mmk go ahead on continue conitnue proceed please pls thanks thank "
    "thx ty great good nice cool perfect awesome excellent amazing love it looks lgtm fine do so done now next and the "
    "first second third last one two three option a b c d both all sounds works work agreed exactly correct right true "
    "nope nah n yet wait cancel skip approved approve accept ship hi hello hey morning bye well very much better that's "
    "that it's this these those is keep going resume carry retry try merged merge commit push run test tests build make "
    "me with then also just i see got understood hmm ah oh wow you whoops exited ready sense change changes them get lets "
    # Spanish, Portuguese, Italian, French
    "sí si vale dale listo gracias continua continúa sigue adelante claro bueno bien perfecto hazlo genial muy "
    "sim obrigado obrigada valeu beleza continue prossiga certo isso ótimo pode perfeito faça manda segue bora "
    "sì grazie va bene procedi vai avanti perfetto ottimo oui merci d'accord vas-y continuez parfait super très "
    # German, Russian, Czech, Polish
    "ja nein danke gut weiter mach bitte prima genau passt jep klar "
    "да нет спасибо хорошо ладно продолжай давай ок отлично супер дальше понял ясно верно "
    "jo ano ne díky dík pokračuj pokračujme dobře paráda tak dzięki dobrze kontynuuj świetnie dalej jasne "
    "cảm ơn tiếp tục được teşekkürler evet tamam devam".split()
)

OPENERS = frozenset(
    "ok okay k mmk so and but also now well hmm hmmm yes yeah yep great good nice cool thanks then hey hi hello alright "
    "right question quick sorry wait oh ah uh perfect i'm wondering maybe perhaps y pero ahora e mas agora und aber "
    "jetzt et mais alors и а но a tak fwiw btw claude please pls".split()
)

QUESTIONS = frozenset(
    "what what's whats how how's hows how'd which who who's whose where where's when's why why's why'd is are was were "
    "am do does did has have had will would shall may could can might any "
    "qué que cómo como cuál cual cuándo dónde donde quién hay está puedo puedes podes o qual quais onde quem quando "
    "cosa quale dove chi quoi quel quelle où qui est was wie welche welcher wo wann wer gibt ist kann "
    "что как какой какие какая где когда кто есть можно co jak jaký jaká jaké kde kdy kdo je jsou jaki jaka gdzie "
    "kiedy kto czy".split()
)

# "do" before one of these is an order, not a question.
DONE = frozenset("not it this that so the these those a all both option".split())

# A question to the agent about its own doing is often a correction: "why did you", "didn't you", "why are we".
REBUKES = frozenset(
    "why why'd didn't didnt don't dont doesn't doesnt isn't isnt aren't arent wasn't wasnt won't wont couldn't couldnt "
    "wouldn't weren't haven't hasn't would por warum wieso pourquoi perché почему зачем proč dlaczego".split()
)

REBUKED = frozenset("you u your we our tu vos tú du ihr vous ты вы você ty".split())

REPORTS = frozenset(
    (
        "still;seems;looks;i see;i get;i got;i ran;i still;i think;i guess;i feel;i thought;i mean;i like;i am;i'm;i was;"
        "i just;i tried;i now;i pushed;i fixed;i updated;i installed;i deleted;i created;i added;i asked;i understand;"
        "it works;it worked;it still;it fails;it failed;it crashes;it says;it shows;it looks;it seems;now i;now it;"
        "there is;there's;there are;there seem;there seems;here is;here's;here are;nothing happens;nothing happened;"
        "this site;this seems;this looks;these look;that looks;that sounds;that works;that worked;same error;same issue;"
        "error;errors;tests pass;all tests;tests are;tests fail;build failed;build fails;sigue;todavía;ainda;continua;"
        "el error;o erro;das problem;опять;всё ещё;pořád;nadal"
    ).split(";")
)

TASKS = frozenset(
    "fix run commit push start rerun retry test build deploy install add create implement rename delete remove move "
    "revert check look investigate explain show list open close merge pull rebase restart reload kill continue "
    "review analyze analyse examine debug generate refactor clean tag release resolve read print summarize summarise "
    "address proceed take produce suggest adb git implementa arregla agrega corrige ejecuta revisa analiza crea faça "
    "corrija adicione execute analise crie исправь запусти добавь проверь сделай покажи".split()
)

HINTS = frozenset(
    # lasting and general
    "always never ever whenever everytime anytime everywhere anywhere anymore forever permanently forward future "
    "henceforth onwards onward generally usually normally typically default defaults standard standards instead "
    # rules and memory
    "remember memorize memorise memory forget forgot forgetting mind rule rules skill skills claude agents md mdc "
    "convention conventions guideline guidelines policy principle principles preference preferences prefer preferred "
    "prefers practice practices habit workflow learnings lesson lessons instructions directive standing template "
    # refusal and correction
    "must mustn't mustnt shouldn't shouldnt ensure stop quit avoid supposed allowed permission mandatory required "
    "tendency wrong incorrect mistake mistakes missed ignored ignoring opposite correction told yourself yourselves "
    # Spanish, Portuguese, Italian, French
    "siempre nunca jamás jamas recuerda recordá acuérdate acuerdate regla reglas adelante futuro próxima proxima debes "
    "debe deben deberías tienes tenés usa usá prefiero deja dejá evita asegúrate asegurate sempre jamais lembre lembra "
    "regra regras diante deve devem prefiro pare evite certifique obrigatório toujours désormais dorénavant règle règles "
    "dois devez évite arrête préfère mai ogni ricorda regola regole devi preferisco smetti "
    # German, Russian, Czech, Polish
    "immer nie niemals künftig zukünftig zukunft jedes jedesmal regel regeln merk merke musst sollst solltest verwende "
    "lieber bevorzuge grundsätzlich всегда никогда впредь отныне каждый каждую каждое каждом запомни помни правило "
    "правила должен должна должны перестань хватит обязательно vždy vždycky nikdy pokaždé příště každý každém každé "
    "pamatuj zapamatuj pravidlo pravidla musíš zawsze nigdy każdy każdym pamiętaj zapamiętaj zasada zasady musisz "
    # Vietnamese, Turkish
    "luôn nhớ đừng phải hãy mỗi her zaman asla hatırla".split()
)

WISHES = frozenset(
    "should note document documented record style styles format formats process docs need needs don't dont can't cannot "
    "only sure careful keep keeps want wants wanted expect asking use using used unlike no nope without until each every "
    "everything anything you your you're youre u you've rather again consistent proper properly correctly manually "
    "explicitly strictly concise short shorter let's lets i'd "
    "cada usar quiero sin toda todo todas todos precisa use quero sem nao não faut veux pas sans devono voglio non "
    "jeder jede muss müssen benutze benutz nutze nicht kein keine ohne ab нужно надо используй пиши делай хочу не "
    "нельзя без používej chci nechci nedělej bez používat używaj chcę nie".split()
)

# These keep a sentence only where it is no report of what the person sees or did.
DOUBTS = frozenset(
    "not notes nope pattern patterns agent repo project like ask asked because since before after if unless while all any "
    "own our us we exactly seriously actually when i'll didn't didnt but".split()
)

CJK_HINTS = (
    "以后 以後 今后 今後 每次 总是 總是 始终 始終 一律 永远 永遠 记住 記住 记得 記得 不要 别 別 必须 必須 务必 務必 规则 規則 规范 技能 应该 應該 "
    "下次 统一 統一 习惯 习慣 需要 只 都 不能 不准 不许 禁止 请用 使用 用中文 用英文 改成 而不是 错 錯 不对 不對 "
    "これから 今後 以後 次回 次から 毎回 常に 必ず いつも 絶対 覚えて ルール 規則 しないで やめて ください して ように べき 使って 使う 禁止 では なく "
    "앞으로 다음부터 이제부터 항상 매번 꼭 절대 반드시 기억 규칙 하지마 하지 마 말아 말고 해줘 하세요 줘 써 넣어 기본 금지 스킬"
).split()
CJK_ASSENTS = frozenset(
    "好 好的 好吧 嗯 行 可以 继续 繼續 是 是的 对 對 没问题 沒問題 谢谢 謝謝 开始 开始吧 继续吧 执行 确认 同意 不错 很好 完成了 ok "
    "はい うん 了解 了解です お願いします ありがとう ありがとうございます 続けて 続き いいね 大丈夫 進めて "
    "네 예 응 좋아 좋아요 그래 계속 계속해 진행해 진행 고마워 감사합니다 알겠어 확인 오케이".split()
)
CJK_QUESTIONS = (
    "吗 嗎 呢 什么 什麼 怎么 怎麼 哪 多少 几 是否 有没有 ですか ますか でしょうか なに どう どこ いつ 何 "
    "까요 나요 습니까 뭐 무엇 어떻게 어디 언제".split()
)
