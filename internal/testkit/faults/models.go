package faults

import (
	"net/http"
	"slices"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
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

// list answers GET /models.
func (p *Provider) list(a api) http.Handler {
	return p.recorded(func(r *http.Request, _ []byte) script {
		a := a
		if r.Header.Get("Anthropic-Version") != "" {
			a = anthropic
		}
		p.models.mu.Lock()
		defer p.models.mu.Unlock()
		if p.models.status != 0 {
			return errorScript(a, p.requestID(), p.models.status, "", "the provider lists nothing now")
		}
		names := p.models.names
		if names == nil {
			names = Behaviours()
		}
		list := openAIModels(names)
		if a == anthropic {
			var err error
			if list, err = anthropicModels(names, r.URL.Query()); err != nil {
				return errorScript(a, p.requestID(), http.StatusBadRequest, "", err.Error())
			}
		}
		return whole(http.StatusOK, "application/json", answers.Encode(list))
	})
}
