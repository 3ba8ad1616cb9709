package detect_test

import (
	"fmt"
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
