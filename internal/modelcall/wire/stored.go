package wire

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// The requests about a response that a provider keeps. They have no body, and nothing is charged.
var (
	ReadResponse   = stored(provider.ReadResponse, readResponse)
	CancelResponse = stored(provider.CancelResponse, readResponse)
	DeleteResponse = stored(provider.DeleteResponse, deletedResponse)
	InputItems     = stored(provider.InputItems, inputItems)
)

// reader appends an answer as the caller gets it.
type reader func(dst, body []byte, members []jsonscan.Member, a *storedAnswer) ([]byte, error)

func stored(name provider.Operation, read reader) *Operation {
	w := &Wire{Name: name, Optional: true}
	return &Operation{Name: name, Deletes: name == provider.DeleteResponse, Routes: []Route{{Wire: w, Encode: func(e Encoding) (*Sending, error) {
		return &Sending{Wire: w, Response: e.Asked.Response, Query: e.Asked.Query, Answer: &storedAnswer{e.Answer, e.Asked.Response, read}}, nil
	}}}}
}

// storedAnswer is what a provider says about a response. Usage in it was charged when it was made, and
// a failure in it is not one of this request.
type storedAnswer struct {
	call openai.Call
	id   string // of the response
	read reader
}

func (a *storedAnswer) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	members, err := jsonscan.Lenient(body, nil)
	if err != nil {
		err = a.call.Broken("answered what is not JSON").WithCause(err)
	} else {
		dst, err = a.read(dst, body, members, a)
	}
	return dst, openai.Summary{UpstreamID: a.id}, err
}

func (*storedAnswer) Stream() openai.Stream { return nil } // none is asked for

// readResponse reads a response. The name by which its model was called is not known any more: it gets
// the one that leads to this provider.
func readResponse(dst, body []byte, members []jsonscan.Member, a *storedAnswer) ([]byte, error) {
	if i, ok := jsonscan.Find(body, members, "model"); ok {
		name, _ := jsonscan.String(members[i].Value(body))
		a.call.Model = a.call.Provider + "/" + name
	}
	a.call.OnID = nil // it was told when the response was made
	dst, _, err := openai.ResponsesResult(dst, body, a.call)
	return dst, err
}

// deletedResponse reports the response that is gone.
func deletedResponse(dst, body []byte, _ []jsonscan.Member, a *storedAnswer) ([]byte, error) {
	a.call.Report(openai.KindResponse, a.id)
	return append(dst, body...), nil
}

// inputItems reports the items: the next page may begin behind one.
func inputItems(dst, body []byte, members []jsonscan.Member, a *storedAnswer) ([]byte, error) {
	i, ok := jsonscan.Find(body, members, "data")
	if !ok || members[i].Kind != '[' {
		return dst, a.call.Broken("answered with what is no list of items")
	}
	list := members[i].Value(body)
	for e := range jsonscan.AllElements(list) {
		if item, ok := jsonscan.String(openai.OpenObject(e.Value(list), nil).Get("id")); ok {
			a.call.Report(openai.KindInputItem, openai.InputItemID(a.id, item))
		}
	}
	return append(dst, body...), nil
}
