package params_test

import (
	"errors"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func TestTheCharactersOfSpeechAreThoseOfItsTextOrTurns(t *testing.T) {
	for input, want := range map[string]struct {
		characters int64
		param      string // of the refusal
	}{
		`"h\u00fc"`: {2, ""},
		`[{"text":"h\u00fc","voice":"Zephyr","instructions":"Whisper."},{"text":"abc"}]`: {5, ""},
		`[]`:                                {0, ""},
		`[{"text":"a"},{"voice":"Zephyr"}]`: {0, "input[1].text"},
		`["a"]`:                             {0, "input[0].text"},
		`[{"text":["a"]}]`:                  {0, "input[0].text"},
		`{"text":"a"}`:                      {0, "input"},
	} {
		var b jsonscan.Body
		if err := b.Parse([]byte(`{"model":"m","input":` + input + `}`)); err != nil {
			t.Fatal(err)
		}
		_, err := params.ParseSpeech(&b)
		param := ""
		if refusal := new(apierror.Error); errors.As(err, &refusal) {
			param = refusal.Param
		}
		if param != want.param || (err != nil) != (want.param != "") {
			t.Errorf("%s: %v, want param %q", input, err, want.param)
		} else if l := params.SpeechLimits(&b); err == nil && l.Units[units.Characters] != want.characters {
			t.Errorf("%s: %d characters, want %d", input, l.Units[units.Characters], want.characters)
		}
		b.Release()
	}
}
