package params_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func TestARankingIsBoundedInSearchUnits(t *testing.T) {
	for _, c := range []struct {
		documents string
		messages  int
		units     int64
	}{
		{`"a"`, 1, 1},
		{strings.Repeat(`"a",`, 99) + `"a"`, 100, 1},
		{strings.Repeat(`"a",`, 100) + `"a"`, 101, 2},
		{`"` + strings.Repeat("x", 500*150) + `"`, 1, 2}, // a long document is several
		{strings.Repeat(`{"text":"a"},`, 250) + `{}`, 251, 3},
		{``, 0, 1},
	} {
		var b jsonscan.Body
		if err := b.Parse([]byte(`{"query":"q","documents":[` + c.documents + `]}`)); err != nil {
			t.Fatal(err)
		}
		if l := params.RerankLimits(&b); l.Messages != c.messages || l.Units[units.Queries] != c.units {
			t.Errorf("%.40s…: %d documents, %d units, want %d and %d", c.documents, l.Messages, l.Units[units.Queries], c.messages, c.units)
		}
		b.Release()
	}
}
