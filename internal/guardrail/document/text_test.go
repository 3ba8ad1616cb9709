package document_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
)

// A surrogate pair may be split over two pieces.
func TestPiecesAreDecodedTogether(t *testing.T) {
	for _, test := range []struct {
		pieces []string
		want   string
	}{
		{[]string{`"a\n"`, `"\u00e9"`}, "a\né"},
		{[]string{`"x\ud83d"`, `""`, `"\ude00 y"`}, "x😀 y"},
		{[]string{`"\ud83d"`, `"x"`}, "\ufffdx"},
		{[]string{`"x\\ud83d"`, `"\ude00"`}, "x\\ud83d\ufffd"},
		{[]string{`"x"`, `"\ud83d"`}, "x\ufffd"},
		{[]string{`"\ud83d\ud83d"`, `"\ude00"`}, "\ufffd😀"},
		{[]string{`{"a":1}`, `null`}, `{"a":1}null`},
	} {
		var d document.PieceDecoder
		got := ""
		for _, p := range test.pieces {
			got += d.Decode([]byte(p))
		}
		if got += d.End(); got != test.want {
			t.Errorf("%q became %q, want %q", test.pieces, got, test.want)
		}
	}
}
