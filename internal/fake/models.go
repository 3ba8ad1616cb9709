package fake

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

const (
	modelsCreated = 1_700_000_000
	defaultLimit  = 500
	maxLimit      = 1000
)

// modelList is what /models shows.
type modelList struct {
	mu     sync.Mutex
	names  []string // nil: all behaviours
	status int      // not 0: /models fails with it
}

// SetModels makes /models list names, or every behaviour if names is nil, and
// ends FailModels. It does not change what may be called.
func (p *Provider) SetModels(names []string) {
	p.models.mu.Lock()
	defer p.models.mu.Unlock()
	p.models.names, p.models.status = slices.Clone(names), 0
}

// FailModels makes /models answer with status until SetModels.
func (p *Provider) FailModels(status int) {
	p.models.mu.Lock()
	defer p.models.mu.Unlock()
	p.models.status = status
}

func (m *modelList) state() (names []string, status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names == nil {
		names, _ = Behaviours()
		return names, m.status
	}
	return slices.Clone(m.names), m.status
}

// list answers GET /models and GET /models/{id}.
func (p *Provider) list(f family) http.Handler {
	return p.recorded(func(r *http.Request, _ []byte) script {
		names, status := p.models.state()
		if status != 0 {
			return errorScript(f, status, "", "the fake provider lists nothing now")
		}
		if id := r.PathValue("id"); id != "" {
			if !slices.Contains(names, id) {
				return errorScript(f, http.StatusNotFound, "model_not_found", fmt.Sprintf("no model %q", id))
			}
			return whole(http.StatusOK, "application/json", encode(modelRecord(f, id)))
		}
		total := len(names)
		answer := object{{"object", "list"}}
		var next any
		if f == openRouter {
			names, next = page(names, r)
			answer = object{}
		}
		records := make([]object, len(names))
		for i, name := range names {
			records[i] = modelRecord(f, name)
		}
		answer = answer.with("data", records)
		if f == openRouter {
			answer = answer.with("total_count", total).with("links", object{{"next", next}})
		}
		return whole(http.StatusOK, "application/json", encode(answer))
	})
}

// page cuts names by the query's offset and limit, nonsense counting as absent,
// and names the next page or nil.
func page(names []string, r *http.Request) (cut []string, next any) {
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 {
		limit = defaultLimit
	}
	limit = min(limit, maxLimit)
	offset = min(max(offset, 0), len(names))
	names = names[offset:]
	if len(names) <= limit {
		return names, nil
	}
	return names[:limit], fmt.Sprintf("/api/v1/models?offset=%d&limit=%d", offset+limit, limit)
}

func modelRecord(f family, id string) object {
	if f == openAI {
		return object{{"id", id}, {"object", "model"}, {"created", modelsCreated}, {"owned_by", "fake"}}
	}
	text := []string{"text"}
	return object{
		{"id", id}, {"canonical_slug", id}, {"name", "Fake: " + id}, {"created", modelsCreated},
		{"description", "A model for tests."}, {"context_length", 8192},
		{"architecture", object{{"modality", "text->text"}, {"input_modalities", text}, {"output_modalities", text}}},
		{"pricing", object{{"prompt", "0.00001"}, {"completion", "0.00001"}}},
		{"top_provider", object{{"is_moderated", false}, {"context_length", 8192}, {"max_completion_tokens", nil}}},
		{"per_request_limits", nil}, {"supported_parameters", []string{"tools", "response_format", "max_tokens"}},
		{"default_parameters", nil}, {"supported_voices", nil},
		{"links", object{{"details", "/api/v1/models/" + id + "/endpoints"}}},
	}
}
