package handlers

import (
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// family is how one of the two SDK families wants to be answered.
type family interface {
	name() string
	// showsGenerationID: the family's clients look for X-Generation-Id.
	showsGenerationID() bool
	appendError(dst []byte, e *apierror.Error) []byte
	// showRate tells of a rate in the headers of any answer, showRefusedRate
	// in those of the 429 that it led to.
	showRate(h http.Header, r *apierror.Rate)
	showRefusedRate(h http.Header, r *apierror.Rate, now time.Time)
	chatResult(dst, body []byte, x *exchange) ([]byte, openai.Summary, error)
	chatStream(x *exchange, includeUsage bool) openai.DeltaStream
	appendModel(dst []byte, m catalog.Model) []byte
	appendModels(dst []byte, models []catalog.Model, p page) []byte
}

// openaiFamily is the first family, below /v1.
type openaiFamily struct{}

func (openaiFamily) name() string            { return "openai" }
func (openaiFamily) showsGenerationID() bool { return false }

func (openaiFamily) appendError(dst []byte, e *apierror.Error) []byte {
	return openai.AppendError(dst, e)
}

func (openaiFamily) chatResult(dst, body []byte, x *exchange) ([]byte, openai.Summary, error) {
	return openai.ChatResult(dst, body, x.wireCall())
}

func (openaiFamily) chatStream(x *exchange, includeUsage bool) openai.DeltaStream {
	c := x.wireCall()
	c.IncludeUsage = includeUsage
	return openai.NewChatStream(c)
}

func (openaiFamily) appendModel(dst []byte, m catalog.Model) []byte {
	return openai.AppendModel(dst, openaiModel(m))
}

// appendModels ignores the page: this family's SDKs know none.
func (openaiFamily) appendModels(dst []byte, models []catalog.Model, _ page) []byte {
	list := make([]openai.Model, len(models))
	for i, m := range models {
		list[i] = openaiModel(m)
	}
	return openai.AppendModelList(dst, list)
}

func openaiModel(m catalog.Model) openai.Model {
	return openai.Model{ID: m.ID, Created: m.Created, OwnedBy: m.OwnedBy, ContextLength: m.ContextLength}
}

// wireCall is what the wire rooms need to know of the call.
func (x *exchange) wireCall() openai.Call {
	return openai.Call{
		Model:    x.call.Model(),
		ID:       x.ids.GenerationID,
		Created:  x.call.Record.CreatedAt.Unix(),
		Provider: x.call.Record.Provider,
		Redact:   x.redact,
		OnID:     func(kind openai.Kind, id string) { x.call.Own(string(kind), id) },
	}
}

// redact takes secrets out of provider text, the caller's own key among them.
func (x *exchange) redact(text string) string {
	return x.gateway.Redact(text, x.secret)
}
