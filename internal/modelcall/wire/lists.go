package wire

import (
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// RouterRerank is [Rerank] with answers as OpenRouter's SDKs require them.
var RouterRerank = func() *Operation {
	o := *Rerank
	o.Routes = list(rerankWire, &openai.RouterRanking)
	return &o
}()

// list is the route to providers that have an API which answers with a list.
func list(w *Wire, l *openai.List) []Route {
	return []Route{{Wire: w, Encode: func(e Encoding) (*Sending, error) {
		answer := &listAnswer{l, e.Answer, e.Asked.Choices}
		if e.adapter(w) != nil {
			return e.adapted(w, e.Body, answer)
		}
		return encodeList(e, w, answer)
	}}}
}

// encodeList sends the caller's own bytes with a few edits.
func encodeList(e Encoding, w *Wire, answer Answer) (*Sending, error) {
	if err := e.setPreferences(); err != nil {
		return nil, err
	}
	params.EncodeList(e.Body, e.Asked, e.Model.Name)
	if err := openrouter.EncodeResponsesFields(e.Body, e.openRouter()); err != nil {
		return nil, err
	}
	if e.Asked.Form != nil {
		return e.nativeForm(w, answer)
	}
	return e.native(w, answer), nil
}

// listAnswer is a provider's list.
type listAnswer struct {
	list *openai.List
	call openai.Call
	n    int64 // elements that are made
}

func (a *listAnswer) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return a.list.Result(dst, body, a.call)
}

// Stream is that of pictures: no other list can be asked for as one.
func (a *listAnswer) Stream() openai.Stream {
	return openai.NewImageStream(a.call, a.n, a.list.Mark)
}
