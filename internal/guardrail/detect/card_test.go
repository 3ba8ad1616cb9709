package detect_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// schemes are the first digits and the lengths of the numbers of each scheme.
var schemes = []struct {
	name, from, to string
	shortest       int
	longest        int
}{
	{"Visa", "4", "4", 13, 19},
	{"Mastercard", "51", "55", 16, 16},
	{"Mastercard", "2221", "2720", 16, 16},
	{"American Express", "34", "34", 15, 15},
	{"American Express", "37", "37", 15, 15},
	{"Discover", "6011", "6011", 16, 19},
	{"Discover, RuPay", "644", "659", 16, 19},
	{"Diners Club", "300", "305", 14, 19},
	{"Diners Club", "3095", "3095", 14, 19},
	{"Diners Club", "36", "36", 14, 19},
	{"Diners Club", "38", "39", 14, 19},
	{"JCB", "3528", "3589", 16, 19},
	{"UnionPay", "62", "62", 16, 19},
	{"UnionPay, RuPay", "81", "82", 16, 19},
	{"Mir", "2200", "2204", 16, 19},
	{"RuPay", "508", "508", 16, 16},
	{"Maestro", "5018", "5018", 13, 19},
	{"Maestro", "5020", "5020", 13, 19},
	{"Maestro", "5038", "5038", 13, 19},
	{"Maestro", "5893", "5893", 13, 19},
	{"Maestro", "6304", "6304", 13, 19},
	{"Maestro", "6759", "6763", 13, 19},
	{"Troy", "9792", "9792", 16, 16},
}

// inUse reports whether a scheme has numbers with these digits.
func inUse(number string) bool {
	for _, s := range schemes {
		first := number[:len(s.from)]
		if s.from <= first && first <= s.to && s.shortest <= len(number) && len(number) <= s.longest {
			return true
		}
	}
	return false
}

// cardNumber returns the number of a length with these first digits and a valid check digit.
func cardNumber(first string, length int) string {
	body := first + strings.Repeat("7", length-1-len(first))
	sum := 0
	for i := range body {
		d := int(body[len(body)-1-i] - '0')
		if i%2 == 0 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	return body + strconv.Itoa((10-sum%10)%10)
}

func TestCardNumbersAreThoseOfTheSchemes(t *testing.T) {
	set := redacting(usualWindow, must(detect.Card()))
	for _, s := range schemes {
		from, _ := strconv.Atoi(s.from)
		to, _ := strconv.Atoi(s.to)
		for _, first := range []int{from - 1, from, to, to + 1} {
			for _, length := range []int{s.shortest - 1, s.shortest, s.longest, s.longest + 1} {
				number := cardNumber(fmt.Sprint(first), length)
				if got := set.whole(number) == mark; got != inUse(number) {
					t.Errorf("%s: %s is found: %t", s.name, number, got)
				}
			}
		}
	}
}

// cardParts are parts of texts with card numbers, and of texts that look like them.
var cardParts = []string{
	"4111111111111111", "4111 1111 1111 1111", "411 111 111 111 1111", "4222222222222", "41１１\u200b11-11111111–1111", "4111\u00a01111\u30001111\u22121111", "3782 822463 10005",
	"1", "23", "456", "7890", "1234567890", ".", " ", "-", "  ", "--", "_", "x", "\n", "\u200b", "\u00ad", "é", "東京、", "５", "，", "one two three", "          ", "func (s *server) ",
}

// The scanner passes texts without enough digits. Character by character it cannot.
func FuzzCardsAreFoundBetweenOtherTexts(f *testing.F) {
	for seed := range uint64(2000) {
		f.Add(seed)
	}
	set := redacting(largestWindow, must(detect.Card()))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 4))
		text := ""
		for range r.IntN(20) {
			text += cardParts[r.IntN(len(cardParts))]
		}
		want, _ := set.pieces(strings.Split(text, ""))
		if got := set.whole(text); got != want {
			t.Errorf("seed %d: %q: got %q, want %q", seed, text, got, want)
		}
		cuts := make([]byte, r.IntN(40))
		for i := range cuts {
			cuts[i] = byte(r.IntN(25))
		}
		if got, _ := set.pieces(cut(text, cuts)); got != want {
			t.Errorf("seed %d: %q in pieces: got %q, want %q", seed, text, got, want)
		}
	})
}

func TestCardsAreFoundAtEveryDistance(t *testing.T) {
	for n := range 40 {
		finds(t, must(detect.Card()), strings.Repeat(":", n)+"⟦4222222222222⟧"+strings.Repeat(":", n), strings.Repeat(" ", n)+"⟦4222222222222⟧ "+strings.Repeat("x", n)+" ⟦4222222222222⟧")
	}
}
