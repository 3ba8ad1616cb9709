package faults

import "sync"

// maxStored bounds the responses that previous_response_id may name.
const maxStored = 10_000

// responseStore remembers the last prompt of each stored response.
type responseStore struct {
	mu      sync.Mutex
	prompts map[string]string
	order   []string
}

func newResponseStore() *responseStore { return &responseStore{prompts: make(map[string]string)} }

func (s *responseStore) put(id, prompt string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts[id] = prompt
	s.order = append(s.order, id)
	if len(s.order) > maxStored {
		delete(s.prompts, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *responseStore) get(id string) (prompt string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	prompt, ok = s.prompts[id]
	return prompt, ok
}
