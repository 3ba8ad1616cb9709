package wire

import (
	"bytes"
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// encodeCompletions sends the caller's own bytes with a few edits. A call whose output is bounded says
// so: servers differ in what they do without a limit.
func encodeCompletions(e Encoding) (*Sending, error) {
	if e.Output == 0 && e.Requested.Output == params.UsualCompletion {
		e.Output = params.UsualCompletion
	}
	if e.Output > 0 {
		e.Requested.SetOutput(e.Body, "", e.Output)
	}
	if err := e.setPreferences(); err != nil {
		return nil, err
	}
	params.EncodeChat(e.Body, e.Asked, e.Model.Name, e.RefusesStreamOptions)
	if err := openrouter.EncodeResponsesFields(e.Body, e.openRouter()); err != nil {
		return nil, err
	}
	return e.native(completionsWire, &completionsAnswer{e.Answer, openai.Shape{Text: true, Echo: params.Echoes(e.Body)}}), nil
}

// completionEvents returns a whole answer as a stream of one chunk, which has the same members.
func completionEvents(dst, body []byte, call openai.Call) ([]byte, openai.Summary, error) {
	call.OnID = nil // the stream reports them
	chunk, sum, err := openai.ShapedResult(nil, body, call, openai.Shape{Text: true})
	if err != nil {
		return dst, sum, err
	}
	chunk = bytes.Map(oneLine, chunk)
	return fmt.Appendf(dst, "data: %s\n\ndata: [DONE]\n\n", chunk), sum, nil
}

// oneLine makes line ends spaces: in JSON they stand between tokens only.
func oneLine(r rune) rune {
	if r == '\n' || r == '\r' {
		return ' '
	}
	return r
}

// completionsAnswer is a provider's answer with texts.
type completionsAnswer struct {
	call  openai.Call
	shape openai.Shape
}

func (a *completionsAnswer) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return openai.ShapedResult(dst, body, a.call, a.shape)
}

func (a *completionsAnswer) Stream() openai.Stream { return openai.NewShapedStream(a.call, a.shape) }
