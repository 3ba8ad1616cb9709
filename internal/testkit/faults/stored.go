package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
)

// maxStored bounds the responses that are kept.
const maxStored = 10_000

// stored is a response that can be read, and that previous_response_id may name.
type stored struct {
	prompt   string // the last one
	response object
	items    []object // of the input
}

// responseStore keeps responses.
type responseStore struct {
	mu    sync.Mutex
	byID  map[string]stored
	order []string
}

func newResponseStore() *responseStore { return &responseStore{byID: make(map[string]stored)} }

func (s *responseStore) put(id string, r stored) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID[id] = r
	s.order = append(s.order, id)
	if len(s.order) > maxStored {
		delete(s.byID, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *responseStore) get(id string) (r stored, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok = s.byID[id]
	return r, ok
}

func (s *responseStore) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}

// handleStored adds the routes about stored responses below a prefix.
func handleStored(p *Provider, prefix string) {
	for path, answer := range map[string]func(*http.Request, stored) script{
		"GET /responses/{id}":             func(_ *http.Request, s stored) script { return jsonScript(s.response) },
		"GET /responses/{id}/input_items": listItems,
		"POST /responses/{id}/cancel":     cancelStored,
		"DELETE /responses/{id}": func(r *http.Request, _ stored) script {
			p.stored.remove(r.PathValue("id"))
			return jsonScript(object{}.With("id", r.PathValue("id")).With("object", "response").With("deleted", true))
		},
	} {
		method, rest, _ := strings.Cut(path, " ")
		p.mux.Handle(method+" "+prefix+rest, p.recorded(func(r *http.Request, _ []byte) script {
			found, ok := p.stored.get(r.PathValue("id"))
			if !ok {
				return notStored(http.StatusNotFound, fmt.Sprintf("Response with id '%s' not found.", r.PathValue("id")))
			}
			return answer(r, found)
		}))
	}
}

func notStored(status int, message string) script {
	return errorScript(openAI, "req_stored", status, "", message)
}

func jsonScript(o object) script {
	return whole(http.StatusOK, "application/json", answers.Encode(o))
}

// cancelStored answers POST /responses/{id}/cancel. Only a response to a prompt about the background can
// be cancelled.
func cancelStored(r *http.Request, s stored) script {
	if r.ContentLength != 0 {
		return notStored(http.StatusBadRequest, "this route takes no body")
	}
	if strings.Contains(s.prompt, "background") {
		return jsonScript(s.response.With("status", "cancelled"))
	}
	return notStored(http.StatusBadRequest, "Only responses with 'background=true' can be cancelled.")
}

// listItems answers GET /responses/{id}/input_items.
func listItems(r *http.Request, s stored) script {
	q, items := r.URL.Query(), slices.Clone(s.items)
	if q.Get("order") != "asc" {
		slices.Reverse(items)
	}
	if after := q.Get("after"); after != "" {
		i := slices.IndexFunc(items, func(o object) bool { return o.Get("id") == after })
		items = items[i+1:]
	}
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil {
		limit = 20
	}
	more := len(items) > limit
	items = items[:min(limit, len(items))]
	page := object{}.With("object", "list").With("data", items)
	if len(items) > 0 {
		page = page.With("first_id", items[0].Get("id")).With("last_id", items[len(items)-1].Get("id"))
	}
	return jsonScript(page.With("has_more", more))
}

// inputItems returns the items of a request's input with ids, as the provider keeps them.
func inputItems(c *call) (items []object) {
	var texts []map[string]any
	if json.Unmarshal(c.Members["input"], &texts) != nil {
		texts = []map[string]any{{"role": "user", "content": c.prompt}}
	}
	for i, from := range texts {
		item := object{}.With("id", fmt.Sprintf("msg_in_%s_%d", c.reply.ID, i)).With("type", "message").With("status", "completed")
		for _, name := range []string{"type", "role", "content"} {
			value := from[name]
			if text, ok := value.(string); ok && name == "content" {
				value = []object{object{}.With("type", "input_text").With("text", text)}
			}
			if value != nil {
				item = item.With(name, value)
			}
		}
		items = append(items, item)
	}
	return items
}

// leastCompaction is the least output that a compaction needs.
const leastCompaction = 1_000

// compactedAs begins what is sealed in a compaction.
const compactedAs = "sealed: "

// compaction is what a conversation becomes: what would have been said.
func compaction(c *call) object {
	return object{}.With("id", "cmp_"+c.reply.ID).With("type", "compaction").With("encrypted_content", compactedAs+strings.Join(c.reply.Text, ""))
}

// compacted is what was sealed in the last compaction of the input.
func compacted(c *call) (text string, ok bool) {
	var items []struct {
		Type      string `json:"type"`
		Encrypted string `json:"encrypted_content"`
	}
	_ = json.Unmarshal(c.Members["input"], &items) // a text has no items
	for _, item := range items {
		if item.Type == "compaction" {
			text, ok = strings.CutPrefix(item.Encrypted, compactedAs)
		}
	}
	return text, ok
}

// triggered reports whether the input ends with the item with which Codex asks for a compaction, and
// takes it off.
func triggered(c *call) bool {
	last := len(c.Input) - 1
	if last < 0 || c.Input[last].Type != "compaction_trigger" {
		return false
	}
	c.Input = c.Input[:last]
	return true
}

// triggeredScript answers POST /responses with a compaction and nothing else. One that is cut off is
// incomplete and has none.
func triggeredScript(c *call) script {
	item, final := compaction(c), c.reply.FinalResponse()
	events := []event{{Name: "response.created", Data: object{}.With("response", c.reply.Response("in_progress"))}}
	end := "response.completed"
	if _, limit := c.OutputLimit(); limit > 0 && limit < leastCompaction {
		end = "response.incomplete"
		final = final.With("status", "incomplete").With("output", []object{}).With("incomplete_details", object{}.With("reason", "max_output_tokens"))
	} else {
		final = final.With("output", []object{item})
		for _, kind := range []string{"added", "done"} {
			events = append(events, event{Name: "response.output_item." + kind, Data: object{}.With("output_index", 0).With("item", item)})
		}
	}
	if !c.streams() {
		return c.plainScript(final)
	}
	events = append(events, event{Name: end, Data: object{}.With("response", final)})
	for i := range events {
		events[i].Data = append(object{}.With("type", events[i].Name).With("sequence_number", i), events[i].Data...)
	}
	return c.streamScript(events, c.responseError())
}

// compactScript answers POST /responses/compact: what the user said, and the rest as a compaction.
func compactScript(c *call, kept *responseStore) script {
	if c.Has("max_output_tokens") || c.Has("stream") {
		return c.fails(http.StatusBadRequest, "unknown_parameter", "compact takes no such parameter")
	}
	if id := strings.Trim(string(c.Members["previous_response_id"]), `"`); id != "" {
		earlier, ok := kept.get(id)
		if !ok {
			return unknownPrevious(id)
		}
		c.prompt = strings.TrimSuffix(earlier.prompt+" / "+c.prompt, " / ")
	}
	if err := c.prepare(); err != nil {
		return c.fails(http.StatusBadRequest, "invalid_value", err.Error())
	}
	user := object{}.With("id", "msg_"+c.reply.ID).With("type", "message").With("status", "completed").With("role", "user").
		With("content", []object{object{}.With("type", "input_text").With("text", c.prompt)})
	final := c.reply.FinalResponse()
	return c.plainScript(object{}.With("id", final.Get("id")).With("object", "response.compaction").With("created_at", final.Get("created_at")).
		With("output", []object{user, compaction(c)}).With("usage", final.Get("usage")))
}

func unknownPrevious(id string) script {
	body := answers.ErrorBody("invalid_request_error", "previous_response_not_found", "previous_response_id", fmt.Sprintf("no response %q", id))
	return whole(http.StatusBadRequest, "application/json", answers.Encode(body))
}
