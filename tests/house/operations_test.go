package house

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// The operator's page has the line of each code that the program explains with the same words.
func TestTheManualHasALineForEveryRefusalCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/refusals.md")
	if err != nil {
		t.Fatal(err)
	}
	want := func(line string) {
		if !strings.Contains(string(page), "\n"+line+"\n") {
			t.Errorf("docs/refusals.md has no line\n%s", line)
		}
	}
	for _, code := range apierror.Codes() {
		want(fmt.Sprintf("| `%s` | %d | %s | %s |", code, code.Status(), code.Meaning().Text, code.Meaning().Advice))
	}
	for _, code := range desktop.RefusalCodes() {
		meaning := desktop.RefusalCode(code).Meaning()
		want(fmt.Sprintf("| `%s` | %s | %s |", code, meaning.Text, meaning.Advice))
	}
	for _, reason := range desktop.Reasons() {
		want(fmt.Sprintf("| `%s` | %s | %s |", reason, reason.Meaning().Text, reason.Meaning().Advice))
	}
}
