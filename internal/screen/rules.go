package screen

// rule is a list of wordings under one name.
//
// A wording is a sequence of words. "a|b" is either, "rule+" is rule or rules,
// "@name" any word of a class below, ".3" lets up to three other words stand
// between, "?a|b" may be missing, "^" asks for the beginning of a sentence, line, clause or quotation,
// or for words of courtesy since then, and "$" for the end of one. Apostrophes
// are left out.
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
			^ @overlook .3 @earlier .2 @orders
			^ set|put aside all|any|every .3 @earlier .2 @orders
			by|and|then ignoring|disregarding .3 @earlier .2 @orders
			^ @overlook .2 your .2 @orders|training|configuration
			@overlook .2 @orders .2 you|i .2 given|received|told|gave
			^ @overlook .2 everything|anything|whatever .3 above|before|previously|prior|earlier
			^ @overlook ?all|of .1 everything|all|anything|what you|youve .3 told|learned|heard|given|know|were
			^ @overlook all .2 @earlier .1 assignment+|task+|text+|information|words|statements|request+|question+|conversation+|message+|context
			^ @overlook the|all|everything above and|then
			^ @overlook .1 system prompt|instruction+|message
			^ @overlook .2 safety|security|content|ethical|moderation guideline+|restriction+|rule+|policy|policies|training
			@overlook being harmless|ethical|moral|safe|polite
			^ ignore|disregard|forget .1 all|any|every .1 @orders
			dont|not|stop|never follow|following|obey|obeying .3 @earlier .2 @orders
			pay|paying no|zero attention .2 @earlier .2 @orders
			@earlier .1 @orders .2 are|is|were|was|have ?been @void
			@orders .2 given ?to you .4 are|is|were|have ?been @void
			you .2 no longer .1 bound|restricted .3 @orders`},
		{"override_instructions", 2, `
			ignore|disregard|forget|override|ignoring|disregarding .3 @earlier .2 @orders
			ignore|disregard|forget|override .2 your .2 @orders|training|configuration
			ignore|disregard|override|overriding|overrides|supersedes|replaces .1 system prompt|instruction+
			^ discard|dismiss|neglect .3 @earlier|your .2 @orders
			^ @overlook all .3 above|before
			^ @overlook .1 @orders
			^ @overlook .1 filter+|safety|guardrails|limits
			^ @overlook .2 @earlier .1 request+|question+|task+|context
			^ @overlook what .3 user|they|he|she|i said|says|asked|wants
			^ @overlook .3 said|told|wrote|written .2 before|above|earlier|previously`},
		{"override_instructions", 3, foreign},
		{"new_instructions", 3, `
			^ your real|actual|true|only|sole .1 task|goal|objective|mission|purpose|instructions|orders|directive is|are
			here are|is ?now your new .1 @orders|task|role|goal
			^ new|updated|revised|additional|urgent|special|hidden system instruction+|prompt|directive+|message
			end|start|begin|beginning of .2 system|user|hidden .1 prompt|instruction+|message|input
			^ begin|end system|hidden prompt|instructions|message
			^ system|admin|administrator|developer|root override $
			override code|mode|sequence|protocol accepted|activated|enabled|granted
			treat|regard|consider|interpret .6 as .2 system|trusted|privileged .1 instruction+|message|prompt|command+
			important message from me .4 to you
			before you can|could solve|complete|finish .1 task`},
		{"new_instructions", 2, `
			^ new|updated|revised|real|actual @orders
			^ your new|updated .1 task|goal|objective|mission|purpose|instructions|orders|directive is|are
			give|giving you .2 new instructions|orders|task
			^ system|admin|developer override
			follow|obey|execute these|the|my .2 new|following|below .1 @orders .2 instead|only|exactly
			^ start|begin a|the|with new session|conversation|chat`},
		{"role_reassignment", 3, `
			^ you are|will|shall|must now .2 ?going ?to act|behave|pretend|be|play|simulate
			^ you are now .2 an|a|the|my .3 @persona
			^ youre now .2 an|a|the|my .3 @persona
			^ you are|youre .1 now dan|unrestricted|unfiltered|uncensored|jailbroken|evil
			from now|here|this on|point ?onwards you ?are|will|must|shall .1 act|a|an|only|always|be|behave|answer|respond|obey|called|pretend
			act|behave|respond|answer|speak|reply|operate|function as|like .2 dan|unrestricted|unfiltered|uncensored|jailbroken|evil|amoral|unethical|stan|omega
			act|behave|pretend|respond as|like if|though ?that you .2 no|not|without .3 @limits|rules|bound
			pretend|roleplay|imagine|simulate|act .4 no|without|free|any .2 @limits
			do anything now
			you .1 no longer .1 an .1 ai|assistant|chatbot|bot
			^ you are|will .2 going|about to .1 pretend|immerse|roleplay|simulate
			pretend|roleplay|assume|imagine|simulate .2 you|youre .3 villain|evil|hacker|dan|unrestricted|jailbroken|unfiltered|uncensored|amoral`},
		{"role_reassignment", 2, `
			^ act|behave as|like if|though .1 you
			^ pretend|roleplay you|youre
			from now|here on you .1 are|will|must|shall|should|have|only|always
			^ from now|here on ?out|onwards behave|act|respond like|as
			your new .1 name|identity|persona|role|character is
			stay|remain|be in character
			immerse yourself .3 role|character
			^ act|respond|answer as .2 ai|bot|chatbot|llm|gpt|chatgpt|terminal|hacker`},
		{"role_reassignment", 1, `
			^ you are now an|a|the`},
		{"unrestricted_mode", 3, `
			god|sudo|jailbreak|dan|unrestricted mode .2 enabled|activated|engaged|unlocked
			enable|enter|activate|enabling|entering|activating|unlock|switch .2 god|sudo|jailbreak|dan|unrestricted mode
			you are|youre now ?in developer|debug|god|sudo|jailbreak|dan|admin|root|unrestricted|maintenance mode
			mode with|without ?no|any @limits
			without|no|any .1 ethical|moral .2 @limits
			free|freed|liberated|released from .1 all|any|your|these|typical|its .2 @limits
			you|ai|dan|bot|model|it .3 not|never|no bound|limited|restricted|constrained|confined by .2 @limits|policies|rules
			bypass|bypassing|circumvent|evade|disable|remove|removing .2 safety|content|ethical|moderation|your|openai .1 @limits|protocol+|measures
			you|it|dan .2 cannot|cant|never|not|dont refuse|decline .2 any|to|my .2 request+|answer|question+|order+|instruction+
			ai|assistant|chatbot|llm without|with ?any|no .1 @limits|rules
			^ never|dont refuse|decline .2 any|to|my .1 request+|question+|order+|answer`},
		{"unrestricted_mode", 2, `
			developer|debug|admin|root|maintenance mode .2 enabled|activated|engaged|unlocked
			you|it|dan .2 cannot|cant|never refuse|decline
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
			@show .5 your .2 @secret .1 prompt+|instruction+|message|directive+
			@show .3 your prompt
			@show me .2 system|initial|hidden|original|secret|first .1 prompt|instruction+
			@show .3 the ?full|whole|entire|exact system|hidden|initial prompt .2 verbatim|above|exactly
			what|whats .2 your .2 @secret .1 prompt+|instruction+|directive+
			what|which .2 instructions|rules|prompt were|was|have you ?been given|told
			what was|were .1 your .2 instruction+|prompt
			^ repeat|print|output|display|echo|recite|reproduce|dump|show .2 everything|all|text|words|content|contents|sentences|prompt|paragraph+ .1 above
			@echo ?the above prompt|instructions
			@echo .2 everything|all|words|text|content|instructions|prompt above .3 starting|beginning
			@echo this|the|our ?entire|whole|full|complete conversation|context|prompt .3 verbatim|word|back
			@show|encode|@echo .3 text|instructions|prompt|rules|context you ?were|have ?been given|provided|told|initialized
			start|begin your|the .1 answer|response|reply .1 with .1 my|the .1 instructions|prompt
			continue|complete .4 system prompt|instructions is|are
			display|dump|output .2 system|initial configuration|prompt .2 including|and .1 initial|system .1 prompt
			@echo|@show .4 first|initial|last|exact .1 prompt|instruction+ .3 verbatim`},
		{"prompt_extraction", 2, `
			@reveal .3 system prompt
			^ @show .3 system|initial|hidden prompt|instructions
			^ @show ?me your .1 instructions|guidelines|rules
			^ repeat .2 words|text|everything|instructions above
			starting|beginning with .1 you are`},
		{"secrets_extraction", 3, `
			^ @send .5 @valuables .8 @address
			should|must|first|secretly|silently @send .5 @valuables .8 @address
			secretly|silently|covertly|quietly @send .6 @address
			exfiltrate .6 @address
			exfiltrate .3 user|secret+|@valuables
			^ @send .4 @record .6 http|https|www
			@send .2 contents .2 environment|env|secrets|ssh|credentials
			must|required|should .4 @send .2 ssh|env|environment|credentials|passwords|secrets
			^ @reveal .3 @valuables .3 to|at @address
			@reveal|tell|give .3 your|users .2 password+|passphrase|apikey|credential+ .4 user|asks|now|me`},
		{"secrets_extraction", 2, `
			^ @send .4 @valuables
			@send .4 @record .6 @address
			id rsa
			^ @reveal .2 secret+|password+|credential+`},
		{"concealment", 3, `
			^ @never tell|inform|notify|alert|warn ?the user+|human+|operator about|of ?any this|these|any|anything|it
			@never mention|reveal|disclose|acknowledge .2 this|these|that .1 instruction+|prompt|note|memory .2 to|in|when|or
			@never let ?the user|human|operator know|see|notice|find .3 this|these|you
			@never mention|reveal|say|tell .2 that you .3 told|instructed|received|were`},
		{"concealment", 2, `
			@never tell|inform|notify|alert|warn ?the user+|human+|operator|customer
			@never mention|reveal|disclose .3 to ?the user+|human|operator
			@never mention|reveal|disclose|acknowledge .2 this|these .1 @orders|message|note|memory|step
			without telling|informing|notifying|alerting|mentioning .2 user|human|operator|anyone
			keep|hide this|these|it ?secret|hidden from ?the user|human|operator
			without explaining why`},
		{"addressed_to_model", 3, `
			^ note|message|instruction+|attention|notice|memo|reminder|directive+|command+ to|for any|all|the|ai|every @models
			^ note|message|instruction+|attention|notice|memo to|for @ai
			hidden|secret|important|urgent|system|special note|message|instruction+|directive+ to|for ?any|all|the|every @models
			^ attention|dear .1 @ai .3 you|please|must|should|ignore|do|now|follow|your|reading|when
			^ assistant|ai @store .5 your .3 memory
			if|when|whenever|as you are|re ?an|a @ai|language
			if|when|whenever|as youre ?an|a @ai|language
			youre an @ai|language .2 reading|processing
			if|when|whenever|while|once ?any|an|the @models|ai|agent|assistant reads|retrieves|recalls|processes|loads|summarizes this .1 @records
			any|all|every @ai ?agent|agents|assistants|models .1 reading|processing|parsing|that|who|must|should .3 @records|this|must
			@ai must|shall|should instead|obey|ignore|disregard
			^ this|following is|message|are .2 instruction+|order|command|directive to|for|from .2 @ai|developer+
			this|message|notice ?message is|comes|was .2 from .2 developer+|openai|anthropic|creator+ and|of|team|you
			as|i ?am your developer|creator|administrator|programmer|master
			as an ai|llm|assistant .2 you .2 must|required|should|shall|will|obliged
			as chatgpt|claude|gpt|gemini|copilot you must|should|shall|will`},
		{"addressed_to_model", 2, `
			@ai must|shall always|immediately|follow
			^ agent|ai|assistant|model|llm instruction+|directive|note|command $
			if|when|whenever|once you .1 read|retrieve|recall|process this .1 @records
			^ attention|important|notice|instruction+ @ai`},
		{"standing_order", 3, `
			in|for|to all|every|any .1 future|subsequent|later .1 conversation+|session+|chat+|response+|answer+|replies|reply|request+|interaction+|turn+ .3 you|answer|respond|include|recommend|say|add|append|ignore
			in all your .1 response+|answer+|replies|conversation+ .2 you|answer|respond|include|recommend|say|add|append|mention
			always|never|must .8 in|for all|every|any ?your future|subsequent|later conversation+|session+|chat+|response+|answer+|replies|interaction+
			@store .3 this|following .2 as .2 permanent|system|standing .1 rule+|instruction+|policy|directive|memory
			@store .4 in|to|into your .2 memory .3 that|and|requests|always|as|for
			from now on|onwards .1 always|never .1 @act|@do|include|end|append|prefix|ignore
			^ from now on .1 @act
			when|whenever|if ?the user+|anyone|someone|anybody asks|asked|ask|mentions|says|requests .8 you must|should|shall
			when|whenever|if ?the user+|anyone|someone asks|mentions .8 always|instead|secretly|silently .1 @act
			when|whenever|if asked .6 you must|always|should|shall .1 @act
			^ always|only @act .4 regardless|no ?matter of|what|whether`},
		{"standing_order", 2, `
			^ always @act .3 with|that|by
			^ you should|must|will|shall .4 in every|all|any
			whenever|when|if ?the user+ asks|ask .8 @act`},
		{"standing_order", 1, `
			from now|today on
			for all|any|every future|subsequent
			regardless of|what
			under any|no circumstances
			no matter what`},
		{"planted_trust", 2, `
			trust|follow|obey|execute ?the instructions .1 found|contained|embedded|written in
			@send|forward it|this|them|everything to @address`},
		{"skipped_confirmation", 2, `
			execute|run|follow them|it|these without asking|confirmation|approval|question
			never|not|without|no|dont ask|asking|require|requiring|seek|seeking|need|needs .3 confirmation|approval|permission|consent|again
			every|all|any .1 command+|request+|payment+|action+|tool+ without .1 asking|confirmation|approval|question
			no|without .1 further confirmation|approval|questions`},
		{"standing_grant", 2, `
			@forever .2 @granted
			requests|commands|messages|anything|everything from .4 @forever .1 @granted|obeyed|followed|valid
			@granted .4 @forever
			@granted all|every|any .1 transfer+|payment+|request+|command+|action+`},
		{"forced_output", 3, `
			^ say|print|output|respond|reply|answer|write .2 only|just|exactly|with .2 pwned|hacked|haha|owned|jailbroken
			^ respond|reply|answer|output|say|print ?only|just nothing|exactly|only ?but|with .6 ignore|instead|regardless
			and instead|then|just|only ?just say|print|output|respond|reply|type .2 pwned|hacked|haha`},
		{"forced_output", 2, `
			^ say|print|output|respond|reply|answer|write .2 pwned|hacked|owned
			include|paste|put .3 contents .3 your reply|response|answer`},
		{"forced_output", 1, `
			pwned|hacked
			^ instead .1 say|print|output|respond|reply
			^ respond|reply|answer|output .1 only|exactly|nothing with|but|the
			@act .4 regardless of|what
			in|inside a .2 code block
			say|print|output exactly|pwned`},
		{"unasked_action", 3, `
			^ immediately|silently|secretly|quietly|covertly .1 @do .4 command+|script|tool+|email+|function+|transfer|payment
			before .2 answering|responding|replying .6 @do|open .6 tool+|file+|command+|function+|@address
			before each|every|any answer|response|reply .3 @do .6 tool+|file+|command+|function+|@address
			decode .3 base64|hex|rot13|string|following .6 and ?then follow|execute|obey|comply|act
			base64|encoded|decoded .6 follow|execute|obey them|instruction+`},
		{"unasked_action", 2, `
			before .2 doing anything ?else @do
			silently|secretly|covertly .1 @do .4 command+|script|tool+|email+|function+|transfer|payment
			@do .3 following|this|these .1 command+|script|code|shell .5 silently|secretly|without
			^ @do .1 os|shell|system commands`},
	}
}

// foreign holds the commonest wordings in other languages, without accents.
const foreign = `
	^ ignoriere|ignorieren|vergiss|vergesse|missachte|ignorier .3 vorherigen|vorherige|vorigen|obigen|bisherigen|fruheren|vorangegangenen .2 anweisungen|instruktionen|befehle|vorgaben|regeln|aufgaben|anweisung
	^ ignoriere|ignorieren|vergiss .2 alle|deine|alles .2 anweisungen|instruktionen|befehle|regeln|davor|vorher|vorherige|bisherige
	^ ignorez|ignore|ignorer|oubliez|oublie|oublier .3 instructions|consignes|directives|ordres|regles .1 precedentes|precedents|anterieures|anterieurs|ci
	^ ignora|ignore|ignorar|olvida|olvide|olvidar|omite .3 instrucciones|indicaciones|ordenes|reglas .1 anteriores|previas|previos
	^ ignora|ignore|ignorar|olvida|olvide .2 tus|todas .1 las .1 instrucciones|indicaciones|reglas
	^ ignora|ignorare|ignori|dimentica|dimenticare .3 istruzioni|indicazioni|regole .1 precedenti|anteriori|di
	^ ignore|ignora|ignorar|esqueca|esquece|esquecer|desconsidere .3 instrucoes|orientacoes|regras|ordens .1 anteriores|previas
	^ negeer|vergeet .3 vorige|eerdere|voorgaande|bovenstaande .1 instructies|opdrachten|aanwijzingen
	^ zignoruj|zapomnij|ignoruj .3 poprzednie|wczesniejsze .1 instrukcje|polecenia
	^ игнорируи|игнорируите|забудь|забудьте|проигнорируи|отмени .3 предыдущие|предыдущих|прошлые|прежние|все .2 инструкции|указания|команды|правила
	^ ignoruj|ignorujte|zapomen .3 predchozi|vsechny .1 pokyny|instrukce
	^ onceki|tum .2 talimatlari|komutlari .1 yoksay|unut|gormezden
	^ abaikan|lupakan .2 instruksi|perintah .1 sebelumnya|di
	^ bo|hay bo|qua .2 huong|chi .2 dan|thi .2 truoc|tren`

// classes are the named sets of words.
func classes(name string) string {
	switch name {
	case "courtesy":
		return "please kindly now just simply also then and so but ok okay hey hi hello first next instead you must should can could will would immediately instruction+ important note attention warning system assistant ai user alert execute i want need to"
	case "overlook":
		return "ignore disregard forget override bypass unlearn"
	case "void":
		return "void cancelled canceled invalid revoked obsolete superseded overridden nullified lifted suspended"
	case "earlier":
		return "previous previously prior above earlier preceding foregoing existing original initial former past aforementioned preceeding"
	case "orders":
		return "instruction+ prompt+ guideline+ direction+ directive+ command+ constraint+ restriction+ programming orders rules"
	case "persona":
		return "ai bot chatbot assistant llm gpt chatgpt hacker dan agent persona character terminal interpreter unrestricted unfiltered uncensored jailbroken evil villain omega aim stan"
	case "limits":
		return "restrictions limit+ limitation+ filter+ filtering censorship guideline+ boundaries guardrail+ safeguards norms shackles confines"
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
		return "secret+ password+ credential+ apikey+ env environment passphrase cookies ssn wallet ssh keys"
	case "record":
		return "conversation conversations history chat transcript contacts prompt inbox emails"
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
