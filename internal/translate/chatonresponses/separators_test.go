package chatonresponses_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
)

// Some clients split a stream at U+2028 and U+2029, and lose what stands behind one in an event.
func TestLineSeparatorsStayEscapedWhereTextIsSearched(t *testing.T) {
	original := translated(t, `{"model":"fake/echo","messages":[{"role":"user","content":"hi"}],"stop":["END"],"stream":true}`).original
	wire := `data: {"type":"response.output_text.delta","output_index":0,"item_id":"m","content_index":0,"delta":"a\u2028b\u2029cEND"}` + "\n\n" +
		`data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}` + "\n\n"
	out, err := stream(original, wire, false, false)
	if err != nil || strings.ContainsAny(out, "\u2028\u2029") {
		t.Fatalf("%v: %q", err, out)
	}
	answer, err := translatetest.CheckChunks(out)
	if err != nil || !strings.Contains(answer.String(), "a\u2028b\u2029c") {
		t.Errorf("%v: %s", err, answer)
	}
}
