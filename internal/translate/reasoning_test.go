package translate_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestReasoningIsWrappedAndUnwrapped(t *testing.T) {
	const elements = `{"type":"reasoning.text","text":"hm","signature":"a/+b"},{"type":"reasoning.encrypted","data":"x"}`
	quoted := string(translate.WrapReasoning([]byte(elements)))
	content := strings.Trim(quoted, `"`)
	if got, ok := translate.UnwrapReasoning(content); !ok || string(got) != elements || len(quoted) != len(content)+2 {
		t.Errorf("%s became %s, %v", quoted, got, ok)
	}
	encoded := func(s string) string { return "gatehouse1." + base64.RawURLEncoding.EncodeToString([]byte(s)) }
	for _, foreign := range []string{
		"", "gAAAAABm", "gatehouse1.", "gatehouse2." + content[len("gatehouse1."):], content + "=", content + " ", content[:len(content)-1],
		encoded(`7`), encoded(`"a"`), encoded(`[]`), encoded(`{}]`), encoded(`{"a":1,"A":2}`), encoded(`{"a":1}x`), encoded(`{"a":1},`), encoded(`{"a":1}{"b":2}`), encoded(` `),
	} {
		if got, ok := translate.UnwrapReasoning(foreign); ok {
			t.Errorf("%q: %s", foreign, got)
		}
	}
}
