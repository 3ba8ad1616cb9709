package apierror

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// Programs depend on these words and numbers: a new code adds a row, and no row changes.
func TestEveryCodeKeepsItsAnswer(t *testing.T) {
	f, err := os.Open("testdata/refusals.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text := strings.Join(strings.Fields(lines.Text()), " "); text != "" && !strings.HasPrefix(text, "#") {
			code, _, _ := strings.Cut(text, " ")
			if want[code] != "" {
				t.Errorf("%s is given twice", code)
			}
			want[code] = text
		}
	}
	for _, code := range slices.Sorted(maps.Keys(table)) {
		e := New(code, "no")
		got := fmt.Sprintf("%s %d %s %s %s %v %t", code, e.HTTPStatus(), e.Type(), e.OpenRouterType(), e.AnthropicType(), e.Retry(), e.Final())
		if got != want[string(code)] {
			t.Errorf("the answer is  %s\nthe file says %q", got, want[string(code)])
		}
		delete(want, string(code))
	}
	for code := range want {
		t.Errorf("%s has no row in the table", code)
	}
}
