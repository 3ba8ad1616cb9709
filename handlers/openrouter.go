package handlers

import (
	"net/url"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// openrouterFamily is the second family, below /api/v1.
type openrouterFamily struct{}

func (openrouterFamily) name() string            { return "openrouter" }
func (openrouterFamily) showsGenerationID() bool { return true }

func (openrouterFamily) appendError(dst []byte, e *apierror.Error) []byte {
	return openrouter.AppendError(dst, e)
}

func (openrouterFamily) chatResult(dst, body []byte, x *exchange) ([]byte, openai.Summary, error) {
	return openrouter.ChatResult(dst, body, x.openrouterCall())
}

func (openrouterFamily) chatStream(x *exchange, _ bool) openai.DeltaStream {
	return openrouter.NewChatStream(x.openrouterCall())
}

func (x *exchange) openrouterCall() openrouter.Call {
	return openrouter.Call{Call: x.wireCall(), Cost: func(u openai.Usage) []byte {
		nano, known := x.call.Cost(u)
		if !known {
			return nil
		}
		return openrouter.AppendUSD(nil, nano)
	}}
}

func (openrouterFamily) appendModel(dst []byte, m catalog.Model) []byte {
	return openrouter.AppendModel(dst, openrouterModel(m))
}

func (openrouterFamily) appendModels(dst []byte, models []catalog.Model, p page) []byte {
	part, more := p.of(models)
	next := ""
	if more {
		next = "/api/v1/models?" + url.Values{
			"offset": {strconv.Itoa(p.offset + len(part))}, "limit": {strconv.Itoa(p.limit)},
		}.Encode()
	}
	list := make([]openrouter.ModelInfo, len(part))
	for i, m := range part {
		list[i] = openrouterModel(m)
	}
	return openrouter.AppendModelList(dst, list, len(models), next)
}

func openrouterModel(m catalog.Model) openrouter.ModelInfo {
	return openrouter.ModelInfo{
		ID: m.ID, Name: m.DisplayName, Description: m.Description, Created: m.Created,
		ContextLength: m.ContextLength, MaxOutput: m.MaxOutput,
		InputModalities: m.InputModalities, OutputModalities: m.OutputModalities,
		Parameters: m.SupportedParameters, Pricing: pricing(m.Price), Moderated: m.Moderated,
	}
}

// pricing shows the base rates; what is not known is left out.
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
	return openrouter.Pricing{
		Prompt: show(p.Prompt), Completion: show(p.Completion),
		CacheRead: show(p.CacheRead), CacheWrite: show(p.CacheWrite), Reasoning: show(p.Reasoning),
		AudioInput: show(p.AudioInput), AudioOutput: show(p.AudioOutput),
	}
}
