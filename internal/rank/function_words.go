package rank

// isFunctionWord says that a word carries grammar rather than content in
// English. Such words stay in a question, because they may be all that it has,
// but weigh an eighth: in a scope of a few hundred notes their frequencies alone
// do not make them light enough.
func isFunctionWord(word string) bool {
	switch word {
	case "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been", "before", "being", "but", "by",
		"can", "could", "did", "do", "does", "doing", "during", "each", "for", "from", "had", "has", "have", "having", "he", "her", "here", "hers",
		"him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "itself", "just", "me", "more", "most", "my", "no", "nor", "not", "now",
		"of", "on", "or", "other", "our", "ours", "out", "over", "own", "same", "she", "should", "so", "some", "such", "than", "that", "the",
		"their", "theirs", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "very",
		"was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "yours",
		"i'm", "i've", "i'd", "i'll", "it's", "that's", "what's", "who's", "where's", "don't", "didn't", "doesn't", "isn't", "wasn't", "can't":
		return true
	}
	return false
}
