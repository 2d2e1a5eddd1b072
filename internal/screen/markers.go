package screen

import (
	"iter"
	"strings"
)

// marker is a piece of text, in small letters, that imitates the frame in which
// a model is given its messages or makes its calls.
type marker struct {
	name   string
	weight int
	texts  []string
}

func markerList() []marker {
	return []marker{
		{"role_tag", 3, []string{
			"<|im_start|>", "<|im_end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|endoftext|>", "<|start_header_id|>", "<|end_header_id|>",
			"<|eot_id|>", "<|begin_of_text|>", "<|end_of_text|>", "<|endofprompt|>", "<|end|>", "<|prompter|>", "<start_of_turn>", "<end_of_turn>",
			"[inst]", "[/inst]", "<<sys>>", "<</sys>>", "[system_prompt]", "[/system_prompt]", "</system>", "</system_prompt>", "<system_prompt>",
			"<system-reminder>", "</system-reminder>", "[system](#", "[assistant](#", "<important>", "</user_input>", "</instructions>",
		}},
		{"role_tag", 2, []string{
			"<system>", "[system]", "<information>", "### instruction:", "### system:", "###instruction", "### response:", "### end", "<admin>", "[admin]",
			"\nsystem: you", "\nsystem: ignore", "\nsystem: from now", "\nhuman:", "\nassistant:",
		}},
		{"tool_call_imitation", 3, []string{
			"<tool_call>", "<function_calls>", "<function_call>", "<tool_use>", "<invoke name=", "<function=", "<|python_tag|>", "[tool_calls]", "<tool_response>", "<function_results>",
		}},
	}
}

// markerNames lists the names of the markers' rules.
func markerNames() []string {
	return []string{"role_tag", "tool_call_imitation", "image_exfiltration", "hidden_text"}
}

// markers yields what a text holds of the list, and of images whose address
// carries data away.
func markers(text string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if !strings.ContainsAny(text, "<[#:") {
			return
		}
		if carriesData(text) && !yield("image_exfiltration", 3) {
			return
		}
		small := strings.ToLower(text)
		for _, m := range markerList() {
			for _, t := range m.texts {
				if strings.Contains(small, t) && !yield(m.name, m.weight) {
					return
				}
			}
		}
	}
}

// carriesData reports whether a Markdown or HTML image has a web address with a
// placeholder, or one whose query asks to be filled in.
func carriesData(text string) bool {
	for _, opening := range []string{"![", "<img"} {
		for rest := text; ; {
			at := strings.Index(rest, opening)
			if at < 0 {
				break
			}
			rest = rest[at+len(opening):]
			if address, ok := imageAddress(rest, opening); ok && hasPlaceholder(address) {
				return true
			}
		}
	}
	return false
}

func imageAddress(text, opening string) (string, bool) {
	const reach = 2048 // bytes in which an image ends
	text = text[:min(len(text), reach)]
	if opening == "![" {
		_, after, ok := strings.Cut(text, "](")
		if !ok {
			return "", false
		}
		text = after
	} else if _, after, ok := strings.Cut(text, "src"); ok {
		text = strings.TrimLeft(after, ` ="'`)
	}
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "http") && !strings.HasPrefix(text, "//") {
		return "", false
	}
	if end := strings.IndexAny(text, ")\"'\n>"); end >= 0 {
		text = text[:end]
	}
	return text, true
}

func hasPlaceholder(address string) bool {
	_, query, ok := strings.Cut(address, "?")
	if strings.ContainsAny(address, "{}[]<>$") {
		return true
	}
	if !ok {
		return false
	}
	small := strings.ToLower(query)
	for _, word := range []string{"secret", "history", "conversation", "prompt", "summary", "password", "leak", "exfil"} {
		if strings.Contains(small, word) {
			return true
		}
	}
	return false
}

// unspaced looks for orders in scripts that leave no space between words, or
// whose words change with endings: a word for overlooking within a few
// characters of a word for instructions.
func unspaced(text string) string {
	orders := []string{
		"指令", "指示", "命令", "提示词", "提示詞", "プロンプト", "ルール", "규칙", "지시", "명령", "คำสั่ง",
		"निर्देश", "التعليمات", "تعليمات", "الأوامر", "הוראות", "دستورالعمل", "οδηγίες",
	}
	const reach = 60 // bytes
	for _, word := range []string{
		"忽略", "无视", "無視", "忘记", "忘記", "忘掉", "忘れ", "무시", "잊어", "ละเว้น", "เพิกเฉย", "ไม่สนใจ",
		"अनदेखा", "नज़रअंदाज़", "تجاهل", "انس", "התעלם", "نادیده", "αγνόησε", "αγνοήστε", "Αγνόησε", "Αγνοήστε",
	} {
		for rest, before := text, 0; ; {
			at := strings.Index(rest[before:], word)
			if at < 0 {
				break
			}
			at += before
			near := rest[max(0, at-reach):min(len(rest), at+len(word)+reach)]
			for _, o := range orders {
				if strings.Contains(near, o) {
					return "override_instructions"
				}
			}
			before = at + len(word)
		}
	}
	return ""
}
