package openai_test

import (
	"errors"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

const (
	spoken    = `{"type":"speech.audio.delta","audio":"AAAA"}`
	spokenEnd = `{"type":"speech.audio.done","usage":{"input_tokens":4,"output_tokens":8,"total_tokens":12}}`
)

func TestEventsOfSpeechPassAsTheyCome(t *testing.T) {
	s := openai.NewSpeechStream(newCall())
	got := feed(s, spoken, "speech.audio.delta|"+spoken, spokenEnd)
	want := "data: " + spoken + "\n\nevent: speech.audio.delta\ndata: " + spoken + "\n\ndata: " + spokenEnd + "\n\n"
	if got != want || !s.Done() {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if _, err := s.Close(nil, nil); err != nil {
		t.Error(err)
	}
	sum := s.Summary()
	if !sum.HasUsage || sum.Usage.Prompt != 4 || sum.Usage.Completion != 8 || sum.Usage.Units[units.AudioOutput] != 8 || !sum.Text {
		t.Errorf("%+v", sum)
	}
}

func TestSpeechThatFailsEndsWithAnError(t *testing.T) {
	cut := openai.NewSpeechStream(newCall())
	feed(cut, spoken)
	if out, err := cut.Close(nil, nil); !errors.Is(err, openai.ErrCut) || out != nil {
		t.Errorf("%s, %v", out, err)
	}
	failed := apierror.New(apierror.UpstreamError, "broke off")
	if out, _ := cut.Close(nil, failed); string(out) != `data: {"error":{"message":"broke off","type":"server_error","param":null,"code":"upstream_error"}}`+"\n\n" {
		t.Errorf("%s", out)
	}
	for _, event := range []string{`{"type":"error","error":{"message":"canary"}}`, `{"error":{"code":503}}`, `{`} {
		s := openai.NewSpeechStream(newCall())
		feed(s, event)
		if _, err := s.Close(nil, nil); err == nil || !s.Done() || s.Summary().Text {
			t.Errorf("%s: %v %+v", event, err, s.Summary())
		}
	}
}
