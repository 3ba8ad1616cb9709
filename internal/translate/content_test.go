package translate_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestToolModes(t *testing.T) {
	for mode, want := range map[string]bool{"none": false, "auto": false, "required": true} {
		var err error
		got, required := translate.ToolMode(open(t, `{"mode":"`+mode+`"}`, &err), "mode")
		if err != nil || required != want || string(got) != `"`+mode+`"` {
			t.Errorf("%s: %s, %v, %v", mode, got, required, err)
		}
	}
	var err error
	translate.ToolMode(open(t, `{"mode":"any"}`, &err), "mode")
	translatetest.MustRefuse(t, "any", err, "o.mode", "invalid_value")
}

func TestAudioIsCopiedAsWritten(t *testing.T) {
	var err error
	out := translate.AppendAudio(nil, open(t, `{"input_audio":{"format":"wav", "data":"AA"}}`, &err))
	if want := `{"type":"input_audio","input_audio":{"format":"wav", "data":"AA"}}`; err != nil || string(out) != want {
		t.Errorf("%s, %v", out, err)
	}
	for text, param := range map[string]string{
		`{}`: "o.input_audio", `{"input_audio":{"data":"AA"}}`: "o.input_audio.format", `{"input_audio":{"data":"AA","format":"wav","x":1}}`: "o.input_audio.x",
	} {
		var err error
		translate.AppendAudio(nil, open(t, text, &err))
		if e := translatetest.MustFail(t, err); e.Param != param {
			t.Errorf("%s: refused by %q", text, e.Param)
		}
	}
}
