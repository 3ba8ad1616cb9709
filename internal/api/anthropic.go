package api

import (
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

// Anthropic is the family of Anthropic's SDKs. Its paths are among those of the other two families:
// /v1/messages, /api/v1/messages. The lists of models are its own for a request with its header.
type Anthropic struct{}

// Name implements [API].
func (Anthropic) Name() string { return "anthropic" }

// ShowIDs implements [API]. The SDKs read Request-Id.
func (Anthropic) ShowIDs(h http.Header, ids request.IDs) {
	h[RequestIDHeader] = []string{ids.RequestID}
	h["Request-Id"] = []string{ids.RequestID}
}

// AppendError implements [API].
func (Anthropic) AppendError(dst []byte, e *apierror.Error, requestID string) []byte {
	return anthropic.AppendError(dst, e, requestID)
}

// ShowRate implements [wire.API].
func (Anthropic) ShowRate(h http.Header, r *apierror.Rate, now time.Time) {
	names := &anthropicRequests
	if r.Tokens {
		names = &anthropicTokens
	}
	reset := now.Add(r.Reset + time.Second - 1) // rounded up to a second
	names.set(h, r, reset.UTC().Format(time.RFC3339))
}

// ShowRefusal implements [API].
func (a Anthropic) ShowRefusal(h http.Header, e *apierror.Error, now time.Time) {
	if e.Rate != nil {
		a.ShowRate(h, e.Rate, now)
	}
	if e.Budget != nil {
		refuseBudget(h, e.Budget)
	}
}

// AppendModel implements [API].
func (Anthropic) AppendModel(dst []byte, m catalog.Model) []byte {
	return anthropic.AppendModel(dst, anthropicModel(m))
}

// AppendModels implements [API]. The family has no embeddings.
func (Anthropic) AppendModels(dst []byte, models []catalog.Model, p Page) []byte {
	part, more := p.of(p.shown(models))
	list := make([]anthropic.Model, len(part))
	for i, m := range part {
		list[i] = anthropicModel(m)
	}
	return anthropic.AppendModelList(dst, list, more)
}

func anthropicModel(m catalog.Model) anthropic.Model {
	return anthropic.Model{
		ID: m.ID, DisplayName: m.DisplayName, Created: m.Created, ContextLength: m.ContextLength, MaxOutput: m.MaxOutput,
	}
}
