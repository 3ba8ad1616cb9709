package harness

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/manual"
)

// WantDocumented compares an answer with the block of a page, a file below docs, whose first line has
// the text first.
func WantDocumented(t *testing.T, page, first, answer string) {
	t.Helper()
	if err := manual.Compare("../..", "docs/"+page, first, answer); err != nil {
		t.Error(err)
	}
}
