package detect_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

func TestWordListsAreBounded(t *testing.T) {
	many := strings.Split(strings.Repeat("a ", 9999)+"a", " ")
	long := strings.Repeat("a", 128)
	all := strings.Split(strings.Repeat(long+" ", 511)+long, " ") // 512 words of 128 characters
	for _, test := range []struct {
		list []string
		want string
	}{
		{many, ""}, {append(many, "a"), "10001 words, the limit is 10000"},
		{[]string{long}, ""}, {[]string{"x", long + "a"}, "word 2 has 129 characters: want 1 to 128"},
		{[]string{strings.Repeat("é", 128)}, ""},
		{all, ""}, {append(all, "a"), "more than 65536 characters"},
		{[]string{"x", " \t"}, "word 2 has 0 characters"}, {[]string{"\xff"}, "word 1 is not UTF-8"},
	} {
		_, err := detect.Words(test.list)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%d words: %v, want %q", len(test.list), err, test.want)
		}
	}
}

func TestWordsWithinOthersAreFound(t *testing.T) {
	finds(t, must(detect.Words([]string{"he is", "is", "is here now", "a b a c"})),
		"⟦he is⟧", "she ⟦is⟧", "it ⟦is⟧ here", "it ⟦is here now⟧", "a b ⟦a b a c⟧", "⟦a b a c⟧")
	finds(t, must(detect.Words([]string{"東京都", "京", "京都市"})), "東⟦京⟧", "⟦東京都⟧", "⟦東京都市⟧", "⟦京都市⟧", "⟦京⟧都")
}

func TestAPartOfACharacterIsNoWord(t *testing.T) {
	finds(t, must(detect.Words([]string{"1", "2", "f", "fi", "ﬃ", "kg"})), "½", "⟦1⟧ ⟦2⟧", "⟦ﬁ⟧", "⟦ffi⟧", "ﬀ", "⟦㎏⟧", "x㎏")
}

// Words of scripts without spaces are found anywhere. Others have characters beside them that
// continue no word.
func TestWordsEndWhereTheScriptSaysSo(t *testing.T) {
	for word, beside := range map[string]string{
		"漢字": "漢", "ひら": "が", "カナ": "ガ", "ไทย": "ก", "ລາວ": "ກ", "ខ្មែរ": "ក", "မြန်": "က",
	} {
		finds(t, must(detect.Words([]string{word})), beside+"⟦"+word+"⟧"+beside)
	}
	finds(t, must(detect.Words([]string{"word"})),
		"aword", "zword", "Aword", "Zword", "0word", "9word", "_word", "worda", "wordZ", "word9", "word_", "éword", "wordé", "word\u0301", "٣word", "wordд",
		"`⟦word⟧{", "@⟦word⟧[", "/⟦word⟧:", "^⟦word⟧", "漢⟦word⟧字", "\u2028⟦word⟧", "½⟦word⟧",
	)
}

func TestBlanksOfAllKindsAreEqual(t *testing.T) {
	detector := must(detect.Words([]string{" a  b\tc ", "\u3000x\u2003y"}))
	for _, blank := range []string{" ", "\t", "\n", "\r\n", "\v", "\f", "\u0085", "\u00a0", "\u1680", "\u2000", "\u2028", "\u202f", "\u205f", "\u3000", " \u200b "} {
		finds(t, detector, "⟦a"+blank+"b"+blank+"c⟧", "⟦x"+blank+blank+"y⟧")
	}
	finds(t, detector, "ab c", "a-b c", "a\u3001b c")
}
