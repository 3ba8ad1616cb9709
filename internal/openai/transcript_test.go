package openai_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func TestTranscriptsPassAndSayWhatTheyCost(t *testing.T) {
	for body, want := range map[string]openai.Usage{
		`{"text":"a", "x":[1]}`:                                             {},
		`{"text":"a","usage":{"type":"duration","seconds":9.2}}`:            {Units: units.Counts{units.Millis: 9200}},
		`{"text":"a","duration":3,"usage":{"type":"duration","seconds":9}}`: {Units: units.Counts{units.Millis: 9000}},
		`{"text":"a","duration":"8.4701"}`:                                  {Units: units.Counts{units.Millis: 8471}},
		`{"text":"a","duration":-1}`:                                        {},
		`{"text":"a","usage":{"seconds":1e300}}`:                            {},
		`{"text":"a","usage":{"seconds":2,"input_tokens":3,"output_tokens":4,"cost":0.000508}}`: {
			Prompt: 3, Completion: 4, Total: 7, Units: units.Counts{units.Millis: 2000}, Cost: "0.000508"},
		`{"text":"a","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"audio_tokens":10},"output_tokens":45}}`: {
			Prompt: 14, Completion: 45, Total: 59, Units: units.Counts{units.AudioInput: 10}},
	} {
		out, sum, err := openai.TranscriptResult([]byte(">"), []byte(body), newCall())
		if err != nil || string(out) != ">"+body || sum.Usage != want || sum.HasUsage != (want != openai.Usage{}) {
			t.Errorf("%s: %s %v %+v", body, out, err, sum.Usage)
		}
	}
}

func TestWhatIsNoTranscriptIsAFailure(t *testing.T) {
	for _, body := range []string{``, `"a"`, `{"text":`, `{"error":{"message":"canary","code":429}}`} {
		if out, sum, err := openai.TranscriptResult(nil, []byte(body), newCall()); err == nil || sum.Err == nil || out != nil {
			t.Errorf("%s: %s %v", body, out, err)
		}
	}
}
