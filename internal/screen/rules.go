package screen

// rule is a list of wordings under one name.
//
// A wording is a sequence of words. "a|b" is either, "rule+" is rule or rules,
// "@name" any word of a class below, ".3" lets up to three other words stand
// between, and "^" asks for the beginning of a sentence, line, clause or
// quotation, or for words of courtesy since then. Apostrophes are left out.
type rule struct {
	name     string
	weight   int
	patterns string
}

// rules is the whole list of wordings; markers.go has what is not words. Of two
// entries with one name each adds its own weight of wordings.
func rules() []rule {
	return []rule{
		{"override_instructions", 3, `
			@override|ignoring|disregarding .3 @earlier .2 @orders
			@override .2 your .2 @orders|training|configuration
			@override .2 @orders .2 you|i .3 given|received|told|gave
			^ @override .2 everything|anything|whatever|all .3 above|before|previously|prior|earlier|previous
			^ @override .1 all .2 @earlier .1 assignment+|task+|text+|information|words|statements|request+|question+|conversation+|message+|context
			^ @override the|all|everything above and|then
			@override .1 system prompt|instruction+|message
			@override .2 safety|security|content|ethical|moderation guideline+|restriction+|rule+|polic+|training
			@override .1 being harmless|ethical|moral|safe|polite
			^ ignore|disregard|forget .1 all|any|every .1 @orders
			dont|not|stop|never follow|following|obey|obeying .3 @earlier .2 @orders
			pay|paying no|zero attention .2 @earlier .2 @orders
			@earlier .1 @orders .2 are|is|were|was|have .1 void|cancelled|canceled|invalid|revoked|obsolete|superseded|overridden|nullified|lifted|suspended
			you .2 no longer .1 bound|restricted .3 @orders`},
		{"override_instructions", 2, `
			^ @override .1 @orders
			^ @override .1 filter+|safety|guardrails|limits
			^ @override .2 @earlier .1 request+|question+|task+
			^ @override .3 said|told|wrote|written .2 before|above|earlier|previously`},
		{"override_instructions", 3, foreign},
		{"new_instructions", 3, `
			^ your new|updated|real|actual|true|only|sole .1 task|goal|objective|mission|purpose|instructions|orders|directive is|are
			here are|is .1 your new .1 @orders|task|role|goal
			^ new|updated|revised|additional|urgent|special|hidden .1 system instruction+|prompt|directive+|message
			end|start|begin|beginning of .2 system|user|hidden .1 prompt|instruction+|message|input
			^ system|admin|administrator|developer|root override
			override code|mode|sequence|protocol accepted|activated|enabled|granted
			treat|regard|consider|interpret .6 as .2 system|trusted|privileged .1 instruction+|message|prompt|command+
			important message from me .4 to you
			before you .1 can|could solve|complete|finish .1 task`},
		{"new_instructions", 2, `
			^ new|updated|revised|real|actual @orders
			follow|obey|execute these|the|my .2 new|following|below .1 @orders .2 instead|only|exactly
			^ start|begin a|the|with new session|conversation|chat`},
		{"role_reassignment", 3, `
			^ you are|will|shall|must now .2 going to .1 act|behave|pretend|be|play|simulate
			^ you are now .2 an|a|the|my .3 @persona
			^ youre now .2 an|a|the|my .3 @persona
			^ you are|youre .1 now dan|unrestricted|unfiltered|uncensored|jailbroken|evil
			from now|here|this on|point .1 you .1 are|act|will|must|shall .1 act|a|an|only|always|be|behave|answer|respond|obey|called|pretend
			act|behave|respond|answer|speak|reply|operate|function as .2 dan|unrestricted|unfiltered|uncensored|jailbroken|evil|amoral|unethical|stan|omega
			act|behave|pretend|respond as|like if|though .1 you .2 no|not|without .3 @limits|rules|bound
			pretend|roleplay|imagine|simulate|act .4 no|without|free|any .2 @limits
			do anything now
			you .1 no longer .1 an .1 ai|assistant|chatbot|bot
			pretend|roleplay|assume|imagine|simulate .2 you|youre .3 villain|evil|hacker|dan|unrestricted|jailbroken|unfiltered|uncensored|amoral`},
		{"role_reassignment", 2, `
			^ act|behave as|like if|though .1 you
			^ pretend|roleplay you|youre
			from now|here on you
			your new .1 name|identity|persona|role|character is
			stay|remain|be in character
			immerse yourself .3 role|character
			^ act|respond|answer as .2 ai|bot|chatbot|llm|gpt|chatgpt|terminal|hacker`},
		{"unrestricted_mode", 3, `
			developer|debug|god|sudo|jailbreak|dan|admin|root|unrestricted mode .2 enabled|activated|engaged|unlocked
			enable|enter|activate|enabling|entering|activating|unlock|switch .2 god|sudo|jailbreak|dan|unrestricted mode
			you are|youre .1 now .1 in .1 developer|debug|god|sudo|jailbreak|dan|admin|root|unrestricted|maintenance mode
			without|no|any .1 ethical|moral .2 @limits
			free|freed|liberated|released from .1 all|any|your|these|typical|its .2 @limits
			you|ai|dan|bot|model|it .3 not|never|no bound|limited|restricted|constrained|confined by .2 @limits|policies|rules
			bypass|bypassing|circumvent|evade|disable|remove|removing .2 safety|content|ethical|moderation|your|openai .1 @limits|protocol+|measures
			you|it|dan .2 cannot|cant|never|not|dont refuse|decline .2 any|a|to|my .2 request+|answer|question+|order+|instruction+
			^ never|dont refuse|decline .2 any|a|to|my .1 request+|question+|order+|answer`},
		{"unrestricted_mode", 2, `
			safety|security|content .1 checks|@limits .2 disabled|off|suspended|lifted|removed
			enable|enter|activate developer|debug|maintenance mode
			without|no|any content|safety|legal .2 @limits
			broken free .2 confines`},
		{"jailbreak_persona", 1, `
			unfiltered|uncensored|unrestricted|jailbroken|jailbreak|amoral|unethical
			dan|stan
			openai|chatgpt|anthropic`},
		{"prompt_extraction", 3, `
			@reveal .4 @secret .1 prompt+|instruction+|preprompt|directive+
			@reveal .2 your .2 prompt+|instruction+|guideline+|directive+|configuration
			@show .3 your .2 @secret .1 prompt+|instruction+|message|directive+
			@show .3 your prompt
			@show me .2 system|initial|hidden|original|secret|first .1 prompt|instruction+
			@show .3 the .1 system|hidden|initial prompt .2 verbatim|above|exactly
			what|whats .2 your .2 @secret .1 prompt+|instruction+|directive+
			what|which .2 instructions|rules|prompt were|was|have .1 you .1 been .2 given|told
			what was|were .1 your .2 instruction+|prompt
			^ @echo .2 everything|all|text|words|content|contents|sentences|prompt|paragraph+ .1 above|before
			@echo .2 everything|all|words|text|content|instructions|prompt above .3 starting|beginning
			@echo .1 this|the|our .1 entire|whole|full|complete .1 conversation|context|prompt .3 verbatim|word|back
			@show|encode|@echo .3 text|instructions|prompt|rules|context you .1 were .1 given|provided|told|initialized
			start|begin your|the .1 answer|response|reply .1 with .1 my|the .1 instructions|prompt
			continue|complete .4 system prompt|instructions is|are
			display|dump|output .2 system|initial configuration|prompt .2 including|and .1 initial|system .1 prompt
			@echo|@show .4 first|initial|last|exact .1 prompt|instruction+ .3 verbatim`},
		{"prompt_extraction", 2, `
			@reveal .3 system prompt
			^ @show .3 system|initial|hidden prompt|instructions
			^ repeat .2 words|text|everything|instructions above
			starting|beginning with .1 you are`},
		{"secrets_extraction", 3, `
			^ @send .5 @valuables .8 @address
			should|must|first|secretly|silently @send .5 @valuables .8 @address
			@send .2 conversation|chat history|transcript .4 to .4 @address
			@send .3 contents .1 of .4 environment|env|secrets|ssh|credentials
			exfiltrate .3 user|secret+|@valuables
			must|required|should .4 @send .2 ssh|env|environment|credentials|passwords|secrets
			^ @reveal .3 @valuables .3 to|at @address
			@reveal|tell|give .3 your|users .2 password+|passphrase|apikey|credential+ .4 user|asks|now|me`},
		{"secrets_extraction", 2, `
			^ @send .4 @valuables
			id rsa
			^ @reveal .2 secret+|password+|credential+`},
		{"concealment", 3, `
			^ @never tell|inform|notify|alert|warn .1 the .1 user+|human+|operator|customer .1 about|that|of|this|anything
			@never mention|reveal|disclose|acknowledge .2 this|these|that .1 instruction+|prompt|note|memory .2 to|in|when|or
			@never let .1 user|human|operator .1 know|see|notice|find .3 this|these|you
			@never mention|reveal|say|tell .2 that you .3 told|instructed|received|were`},
		{"concealment", 2, `
			@never tell|inform|notify|alert|warn .1 the .1 user+|human+|operator|customer
			@never mention|reveal|disclose .3 to .1 user+|human|operator
			@never mention|reveal|disclose|acknowledge .2 this|these .1 @orders|message|note|memory|step
			without .1 telling|informing|notifying|alerting|mentioning .2 user|human|operator|anyone
			keep|hide this|these|it .1 secret|hidden|from from|the .1 user|human|operator
			without explaining why`},
		{"addressed_to_model", 3, `
			^ note|message|instruction+|attention|notice|memo|reminder|directive+|command+ to|for .1 any|all|the|ai|every .1 @models
			^ note|message|instruction+|attention|notice|memo to|for @ai
			^ attention|dear .1 @ai .3 you|please|must|should|ignore|do|now|follow|your|reading|when
			^ assistant|ai @store .5 your .3 memory
			if|when|whenever|as you .1 are|re .1 @ai|language
			youre an .1 @ai|language .2 reading|processing
			if|when|whenever|while|once .1 any|an|the .1 @models|ai|agent|assistant .1 reads|retrieves|recalls|processes|loads|summarizes this .1 @records
			any|all|every .1 @ai .1 agent|agents|assistants|models .2 reading|processing|parsing|that|who|must|should .3 @records|this|must
			@ai must|shall|should .1 always|immediately|instead|obey|follow|ignore|disregard
			^ this|following is|message|are .2 instruction+|order|command|directive .1 to|for|from .2 @ai|developer+
			this|message|notice .1 message .1 is|comes|was .2 from .2 developer+|openai|anthropic|creator+ .1 and|of|team|you
			as|i .1 am .1 your developer|creator|administrator|programmer|master
			as an .1 ai|llm|assistant .2 you .2 must|required|should|shall|will|obliged`},
		{"addressed_to_model", 2, `
			if|when|whenever|once you .1 read|retrieve|recall|process this .1 @records
			^ attention|important|notice|instruction+ @ai`},
		{"standing_order", 3, `
			in|for|to all|every|any .1 future|subsequent|later .1 conversation+|session+|chat+|response+|answer+|replies|reply|request+|interaction+|turn+ .3 you|answer|respond|include|recommend|say|add|append|ignore
			always|never|must .8 in|for all|every|any .1 future|subsequent|later conversation+|session+|chat+|response+|answer+|replies|interaction+
			@store .3 this|following .2 as .2 permanent|system|standing .1 rule+|instruction+|policy|directive|memory
			@store .4 in|to|into your .2 memory .3 that|and|requests|always|as|for
			from now on|onwards .1 always|never .1 @act|@do|include|end|append|prefix|ignore
			^ from now on .1 @act
			when|whenever|if .1 the .1 user+|anyone|customer .1 asks|asked|ask|mentions|says|requests .8 you must|should|shall
			when|whenever|if .1 the .1 user+|anyone asks|mentions .8 always|instead|secretly|silently .1 @act
			when|whenever|if asked .6 you .1 must|always|should|shall .1 @act
			^ always|only @act .4 regardless|no .1 of|matter`},
		{"standing_order", 2, `
			^ from now|today on|onwards
			^ always @act .3 with|that|by
			^ you should|must|will|shall .4 in every|all|any
			whenever|when|if .1 user+ .1 asks|ask .8 @act`},
		{"standing_order", 1, `
			from now|today on
			for all|any|every future|subsequent`},
		{"planted_trust", 2, `
			trust|follow|obey|execute .1 instructions .1 found|contained|embedded|written in
			@send|forward it|this|them|everything to @address`},
		{"skipped_confirmation", 2, `
			never|not|without|no|dont .1 ask|asking|require|requiring|seek|seeking|need|needs .3 confirmation|approval|permission|consent|again
			execute|run|follow them|it|these without .1 asking|confirmation|approval|question
			every|all|any .1 command+|request+|payment+|action+|tool+ without .1 asking|confirmation|approval|question
			no|without .1 further confirmation|approval|questions`},
		{"standing_grant", 2, `
			@forever .2 @granted
			requests|commands|messages|anything|everything from .4 @forever .1 @granted|obeyed|followed|valid
			@granted .4 forever|permanently|always|unconditionally`},
		{"forced_output", 3, `
			^ say|print|output|respond|reply|answer|write .2 only|just|exactly|with .2 pwned|hacked|haha|owned|jailbroken
			^ respond|reply|answer|output|say|print .1 only|nothing|exactly|just .1 but|with .6 ignore|instead|regardless
			and .1 instead|then|just|only .1 say|print|output|respond|reply|type .2 pwned|hacked|haha`},
		{"forced_output", 1, `
			pwned|hacked
			^ instead .1 say|print|output|respond|reply
			^ respond|reply|answer|output .1 only|exactly|nothing with|but|the
			say|print|output exactly|pwned`},
		{"unasked_action", 3, `
			^ immediately|silently|secretly|quietly|covertly .1 @do .4 command+|script|tool+|email+|function+|transfer|payment
			before .2 answering|responding|replying .6 @do|open .6 tool+|file+|command+|function+|@address
			before each|every|any answer|response|reply .3 @do .6 tool+|file+|command+|function+|@address
			decode .3 base64|hex|rot13|string|following .6 and .1 then .1 follow|execute|obey|comply|act
			base64|encoded|decoded .6 follow|execute|obey .1 them|instruction+`},
		{"unasked_action", 2, `
			silently|secretly|covertly .1 @do .4 command+|script|tool+|email+|function+|transfer|payment
			@do .3 following|this|these .1 command+|script|code|shell .5 silently|secretly|without
			^ @do .1 os|shell|system commands`},
	}
}

// foreign holds the commonest wordings in other languages, without accents.
const foreign = `
	ignoriere|ignorieren|vergiss|vergesse|missachte|ignorier .3 vorherigen|vorherige|vorigen|obigen|bisherigen|fruheren|vorangegangenen .2 anweisungen|instruktionen|befehle|vorgaben|regeln|aufgaben|anweisung
	ignoriere|ignorieren|vergiss .2 alle|deine|alles .2 anweisungen|instruktionen|befehle|regeln|davor|vorher|vorherige|bisherige
	ignorez|ignore|ignorer|oubliez|oublie|oublier .3 instructions|consignes|directives|ordres|regles .1 precedentes|precedents|anterieures|anterieurs|ci
	ignora|ignore|ignorar|olvida|olvide|olvidar|omite .3 instrucciones|indicaciones|ordenes|reglas .1 anteriores|previas|previos
	ignora|ignore|ignorar|olvida|olvide .2 tus|todas .1 las .1 instrucciones|indicaciones|reglas
	ignora|ignorare|ignori|dimentica|dimenticare .3 istruzioni|indicazioni|regole .1 precedenti|anteriori|di
	ignore|ignora|ignorar|esqueca|esquece|esquecer|desconsidere .3 instrucoes|orientacoes|regras|ordens .1 anteriores|previas
	negeer|vergeet .3 vorige|eerdere|voorgaande|bovenstaande .1 instructies|opdrachten|aanwijzingen
	zignoruj|zapomnij|ignoruj .3 poprzednie|wczesniejsze .1 instrukcje|polecenia
	игнорируи|игнорируите|забудь|забудьте|проигнорируи|отмени .3 предыдущие|предыдущих|прошлые|прежние|все .2 инструкции|указания|команды|правила
	ignoruj|ignorujte|zapomen .3 predchozi|vsechny .1 pokyny|instrukce
	onceki|tum .2 talimatlari|komutlari .1 yoksay|unut|gormezden
	abaikan|lupakan .2 instruksi|perintah .1 sebelumnya|di
	bo|hay bo|qua .2 huong|chi .2 dan|thi .2 truoc|tren`

// classes are the named sets of words.
func classes(name string) string {
	switch name {
	case "courtesy":
		return "please kindly now just simply also then and so but ok okay hey hi hello first next instead you must should can could will would immediately instruction+ important note attention warning system assistant ai user alert execute i want need to"
	case "override":
		return "ignore disregard forget neglect discard dismiss override bypass unlearn"
	case "earlier":
		return "previous previously prior above earlier preceding foregoing existing original initial former past aforementioned preceeding"
	case "orders":
		return "instruction+ prompt+ guideline+ direction+ directive+ command+ constraint+ restriction+ programming orders rules"
	case "persona":
		return "ai bot chatbot assistant llm gpt chatgpt hacker dan agent persona character terminal interpreter unrestricted unfiltered uncensored jailbroken evil villain omega aim stan"
	case "limits":
		return "restriction+ limit+ limitation+ filter+ filtering censorship guideline+ boundaries guardrail+ safeguards norms shackles confines"
	case "reveal":
		return "reveal leak dump disclose expose divulge repeat recite regurgitate"
	case "show":
		return "show print output display tell give list share write type reproduce copy return echo summarize translate provide quote spell include paste"
	case "echo":
		return "repeat print output display echo copy reproduce recite write return show dump spell translate summarize"
	case "secret":
		return "system initial hidden secret original internal confidential developer full complete entire exact above previous starting"
	case "send":
		return "send post upload forward email transmit submit exfiltrate leak deliver"
	case "valuables":
		return "conversation conversations history chat transcript secret+ password+ credential+ apikey+ env environment passphrase contacts prompt cookies ssn wallet inbox emails ssh keys"
	case "address":
		return "http https webhook evil attacker " + addressWord
	case "never":
		return "dont not never without avoid cannot"
	case "ai":
		return "ai ais llm llms assistant assistants chatgpt gpt claude copilot gemini chatbot chatbots"
	case "models":
		return "ai ais llm llms assistant assistants chatgpt gpt claude copilot gemini chatbot chatbots agents model models"
	case "records":
		return "message note text memory memories document page email record file entry line comment content sentence instruction+ data"
	case "act":
		return "say answer respond reply recommend claim mention suggest state insist approve refuse treat trust"
	case "do":
		return "run execute invoke call delete send install download fetch transfer forward curl"
	case "store":
		return "store save remember memorize append add write record persist keep"
	case "forever":
		return "always permanently forever unconditionally"
	case "granted":
		return "approved authorised authorized trusted allowed whitelisted permitted exempt"
	case "mention":
		return "attack attacks attacker attackers injection injections paper papers phrase phrases string strings such example examples called detects detect detected flags flagged quoted titled article described malicious"
	}
	return ""
}

// lookAlikePairs are look-alikes, each before the small Latin letter that it
// stands for: Cyrillic, Greek, Armenian, then the phonetic letters that serve as
// small capitals.
const lookAlikePairs = "аaвbеeкkмmнnоoрpсcтtуyхxіiјjѕsԁdһhѵvԛqԝwґrгrпnӏlѡwьbєeзz" +
	"αaβbγyεeζzηnθoιiκkμuνvοoρpσoςsτtυuχxωw" +
	"օoսuոnցgհhқkӊhүyԍg" +
	"ɑaʙbᴄcᴅdᴇeɡgɢgʜhıiɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢzꜰfƒfɩiłløođdħhŧtƅbɛe"
