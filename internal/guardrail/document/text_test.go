package document_test

import (
	"strings"
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

// Only the first half of a pair waits for the next piece.
func TestTheFirstHalfOfAPairIsKept(t *testing.T) {
	for piece, want := range map[string]string{
		`"x\ud800"`: "x", `"x\udbff"`: "x", `"x\udc00"`: "x\ufffd", `"x\udfff"`: "x\ufffd", `"x\ud7ff"`: "x\ud7ff", `"x\\ud800"`: `x\ud800`, `"x\\\ud800"`: `x\`, `"\ud800"`: "",
	} {
		if got := new(document.PieceDecoder).Decode([]byte(piece)); got != want {
			t.Errorf("%s: got %q, want %q", piece, got, want)
		}
	}
}

func TestAppendGivesWhatDecodeGives(t *testing.T) {
	var one, other document.PieceDecoder
	var text strings.Builder
	want := ""
	for _, piece := range []string{`""`, `"a"`, `"é"`, `"\n"`, `"\ud83d"`, `"plain"`, `"\ud83d"`, `"\ude00 b"`, `5`, `{"a":"b"}`, `"\\ud83d"`, `"\ud83d"`, `null`} {
		one.Append(&text, []byte(piece))
		if want += other.Decode([]byte(piece)); text.String() != want {
			t.Errorf("after %s: %q, want %q", piece, text.String(), want)
		}
	}
	if one.End() != other.End() {
		t.Error("half a pair is left in one only")
	}
}
