package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// OpenRouter is the family of OpenRouter's SDKs, below /api/v1.
type OpenRouter struct{}

// Name implements [API].
func (OpenRouter) Name() string { return "openrouter" }

// ShowIDs implements [API].
func (OpenRouter) ShowIDs(h http.Header, ids request.IDs) {
	h[RequestIDHeader] = []string{ids.RequestID}
	h[GenerationIDHeader] = []string{ids.GenerationID}
}

// AppendError implements [API].
func (OpenRouter) AppendError(dst []byte, e *apierror.Error, _ string) []byte {
	return openrouter.AppendError(dst, e)
}

// ChatResult implements [wire.ChatAPI].
func (OpenRouter) ChatResult(dst, body []byte, call openai.Call, p wire.Pricer) ([]byte, openai.Summary, error) {
	return openrouter.ChatResult(dst, body, withCost(call, p))
}

// ChatStream implements [wire.ChatAPI]. Its usage is always shown.
func (OpenRouter) ChatStream(call openai.Call, p wire.Pricer) openai.DeltaStream {
	return openrouter.NewChatStream(withCost(call, p))
}

// ResponseDefaults implements [wire.ChatAPI].
func (OpenRouter) ResponseDefaults() []openai.Default { return openrouter.ResponseDefaults }

func withCost(call openai.Call, p wire.Pricer) openrouter.Call {
	return openrouter.Call{Call: call, Cost: func(u openai.Usage) []byte {
		nano, known := p.Cost(u)
		if !known {
			return nil
		}
		return openrouter.AppendUSD(nil, nano)
	}}
}

// AppendModel implements [API].
func (OpenRouter) AppendModel(dst []byte, m catalog.Model) []byte {
	return openrouter.AppendModel(dst, openrouterModel(m))
}

// AppendModels implements [API].
func (OpenRouter) AppendModels(dst []byte, models []catalog.Model, p Page) []byte {
	models = p.shown(models)
	part, more := p.of(models)
	next := ""
	if more {
		q := url.Values{"offset": {strconv.Itoa(p.Offset + len(part))}, "limit": {strconv.Itoa(p.Limit)}}
		if p.outputs != "" {
			q.Set(OutputModalities, p.outputs)
		}
		next = "/api/v1/models?" + q.Encode()
	}
	list := make([]openrouter.ModelInfo, len(part))
	for i, m := range part {
		list[i] = openrouterModel(m)
	}
	return openrouter.AppendModelList(dst, list, len(models), next)
}

// AppendImageModels appends the models that make pictures of a prompt, all on one page.
func AppendImageModels(dst []byte, models []catalog.Model, _ Page) []byte {
	list := []openrouter.ModelInfo{}
	for _, m := range models {
		if m.Serves(catalog.OpRouterImages) && slices.Contains(m.OutputModalities, "image") {
			list = append(list, openrouterModel(m))
		}
	}
	return openrouter.AppendImageModels(dst, list)
}

// AppendModelCount appends how many models the list of this family has.
func AppendModelCount(dst []byte, models []catalog.Model, p Page) []byte {
	return openrouter.AppendModelCount(dst, len(p.shown(models)))
}

// Place is where calls of a model can be sent.
type Place struct {
	Provider string
	Model    *catalog.Model
}

// AppendModelEndpoints appends a model and where calls of it can be sent: an alias has several places.
func AppendModelEndpoints(dst []byte, m catalog.Model, places []Place) []byte {
	var endpoints []openrouter.ModelEndpoint
	for _, p := range places {
		endpoints = append(endpoints, openrouter.ModelEndpoint{Provider: p.Provider, Model: openrouterModel(*p.Model)})
	}
	return openrouter.AppendModelEndpoints(dst, openrouterModel(m), endpoints)
}

func openrouterModel(m catalog.Model) openrouter.ModelInfo {
	var units map[string]string
	if m.Price != nil {
		if other := m.Price.Units.Other(); other != nil {
			units = make(map[string]string, len(other))
			for name, rate := range other {
				units[name] = rate.String()
			}
		}
	}
	return openrouter.ModelInfo{
		ID: m.ID, Name: m.DisplayName, Description: m.Description, Created: m.Created,
		ContextLength: m.ContextLength, MaxOutput: m.MaxOutput,
		InputModalities: m.InputModalities, OutputModalities: m.OutputModalities,
		Parameters: m.SupportedParameters, Pricing: pricing(m.Price), UnitPricing: units, Moderated: m.Moderated,
	}
}

// pricing returns the base rates, without those that are not known.
func pricing(p *catalog.Price) openrouter.Pricing {
	if p == nil {
		return openrouter.Pricing{}
	}
	show := func(q catalog.Quote) string {
		if !q.Known {
			return ""
		}
		return q.Rate.String()
	}
	heard, spoken := p.Units.Audio()
	return openrouter.Pricing{
		Prompt: show(p.Prompt), Completion: show(p.Completion),
		CacheRead: show(p.CacheRead), CacheWrite: show(p.CacheWrite), Reasoning: show(p.Reasoning),
		AudioInput: show(heard), AudioOutput: show(spoken), Request: show(p.Request),
	}
}
