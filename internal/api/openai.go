package api

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// OpenAI is the family of OpenAI's SDKs, below /v1.
type OpenAI struct{}

// Name implements [API].
func (OpenAI) Name() string { return "openai" }

// ShowIDs implements [API].
func (OpenAI) ShowIDs(h http.Header, ids request.IDs) { h[RequestIDHeader] = []string{ids.RequestID} }

// AppendError implements [API].
func (OpenAI) AppendError(dst []byte, e *apierror.Error, _ string) []byte {
	return openai.AppendError(dst, e)
}

// ChatResult implements [wire.ChatAPI].
func (OpenAI) ChatResult(dst, body []byte, call openai.Call, _ wire.Pricer) ([]byte, openai.Summary, error) {
	return openai.ChatResult(dst, body, call)
}

// ChatStream implements [wire.ChatAPI].
func (OpenAI) ChatStream(call openai.Call, _ wire.Pricer) openai.DeltaStream {
	return openai.NewChatStream(call)
}

// ResponseDefaults implements [wire.ChatAPI].
func (OpenAI) ResponseDefaults() []openai.Default { return nil }

// AppendModel implements [API].
func (OpenAI) AppendModel(dst []byte, m catalog.Model) []byte {
	return openai.AppendModel(dst, openaiModel(m))
}

// AppendModels implements [API]. It ignores the page: the family's SDKs know none.
func (OpenAI) AppendModels(dst []byte, models []catalog.Model, _ Page) []byte {
	list := make([]openai.Model, len(models))
	for i, m := range models {
		list[i] = openaiModel(m)
	}
	return openai.AppendModelList(dst, list)
}

func openaiModel(m catalog.Model) openai.Model {
	return openai.Model{ID: m.ID, Created: m.Created, OwnedBy: m.OwnedBy, ContextLength: m.ContextLength}
}
