package translate_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestToolModes(t *testing.T) {
	for _, mode := range []string{"none", "auto", "required"} {
		var err error
		if got := translate.ToolMode(open(t, `{"mode":"`+mode+`"}`, &err), "mode"); err != nil || got != mode {
			t.Errorf("%s: %s, %v", mode, got, err)
		}
	}
	var err error
	translate.ToolMode(open(t, `{"mode":"any"}`, &err), "mode")
	translatetest.MustRefuse(t, "any", err, "o.mode", "invalid_value")
}
