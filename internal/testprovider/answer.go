package testprovider

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// maxChoices bounds n: each choice is one more copy of the reply.
const maxChoices = 8

var roles = []string{"system", "developer", "user", "assistant", "tool", "function"}

// answer is the success of a route: either body or stream is set.
type answer struct {
	body   Object
	stream *Stream
	pace   time.Duration // of the stream
	cut    int           // pieces before the stream breaks off; 0: it does not
}

// chat serves POST {base}/chat/completions.
func (t *Transport) chat(req *http.Request) (answer, error) {
	return t.serve(req, "messages", func(r *Request, reply *Reply) answer {
		if r.Stream {
			return answer{stream: reply.ChatStream(r.StreamOptions.IncludeUsage)}
		}
		return answer{body: reply.ChatResult()}
	})
}

// responses serves POST {base}/responses.
func (t *Transport) responses(req *http.Request) (answer, error) {
	return t.serve(req, "input", func(r *Request, reply *Reply) answer {
		reply.Settings = r.Settings()
		if r.Stream {
			return answer{stream: reply.ResponseStream()}
		}
		return answer{body: reply.FinalResponse()}
	})
}

// messages serves POST {base}/messages.
func (t *Transport) messages(req *http.Request) (answer, error) {
	return t.serve(req, "messages", func(r *Request, reply *Reply) answer {
		if r.Stream {
			return answer{stream: reply.MessageStream()}
		}
		return answer{body: reply.Message()}
	})
}

// countTokens serves POST {base}/messages/count_tokens.
func (t *Transport) countTokens(req *http.Request) (answer, error) {
	body, err := readBody(req)
	if err != nil {
		return answer{}, err
	}
	r, err := ParseMessages(body, true)
	if err != nil {
		return answer{}, err
	}
	if _, err := findWriter(r.Model); err != nil {
		return answer{}, err
	}
	return answer{body: r.TokenCount()}, nil
}

// TokenCount is the answer of count_tokens.
func (r *Request) TokenCount() Object { return Object{{"input_tokens", r.inputTokens()}} }

// serve decides on the reply. write brings it into the shape of the API, the
// conversation of which is in the member of that name.
func (t *Transport) serve(req *http.Request, conversation string, write func(*Request, *Reply) answer) (answer, error) {
	body, err := readBody(req)
	if err != nil {
		return answer{}, err
	}
	var r *Request
	if isMessages(req) {
		r, err = ParseMessages(body, false)
	} else {
		r, err = ParseRequest(body)
	}
	if err != nil {
		return answer{}, err
	}
	model, err := findWriter(r.Model)
	if err != nil {
		return answer{}, err
	}
	if err := r.check(conversation); err != nil {
		return answer{}, err
	}
	reply, err := r.reply(model)
	if err != nil {
		return answer{}, err
	}
	reply.ID, reply.Model, reply.Now, reply.Created = t.newID(), model.ID, t.now, t.now().Unix()
	if model.fails && !r.Stream {
		return answer{}, errFails(model.ID)
	}
	if !r.Stream {
		if err := wait(req.Context(), time.Duration(reply.pieces())*model.pace); err != nil {
			return answer{}, err
		}
	}
	a := write(r, reply)
	a.pace = model.pace
	if model.fails {
		a.cut = failAfter
	}
	return a, nil
}

// check refuses what this provider cannot answer.
func (r *Request) check(conversation string) error {
	if conversation == "input" {
		r.N = nil // of chat only
		for _, stored := range []string{"previous_response_id", "conversation"} {
			if r.Has(stored) {
				return errState(stored)
			}
		}
		for _, unsupported := range []string{"prompt", "background"} {
			if r.Has(unsupported) && string(r.Members[unsupported]) != "false" {
				return errUnsupported(unsupported)
			}
		}
	}
	if !r.Has(conversation) {
		return errMissing(conversation)
	}
	if len(r.Conversation()) == 0 {
		return errValue(conversation, "%s is empty", conversation)
	}
	for _, m := range r.Conversation() {
		switch {
		case m.Type == "item_reference":
			return errState(conversation)
		case (m.Type == "" || m.Type == "message") && !slices.Contains(roles, m.Role):
			return errValue(conversation, "unknown role: %q", m.Role)
		}
	}
	if r.N != nil && (*r.N < 1 || *r.N > maxChoices) {
		return errValue("n", "n is from 1 to %d, not %d", maxChoices, *r.N)
	}
	return nil
}

// reply is what the model says: a text, or the call of a function.
func (r *Request) reply(model Model) (*Reply, error) {
	limit := MaxOutputTokens
	if name, tokens := r.OutputLimit(); name != "" {
		if tokens < 1 && !r.messages { // there 0 only fills the cache
			return nil, errValue(name, "%q is at least 1, not %d", name, tokens)
		}
		limit = min(limit, tokens)
	}
	offered, err := functions(r.Tools)
	if err != nil {
		return nil, err
	}
	called, err := r.ToolChoice.pick(offered)
	if err != nil {
		return nil, err
	}
	reply := &Reply{Choices: 1, Finish: "stop"}
	if r.N != nil {
		reply.Choices = *r.N
	}
	var pieces []string
	var cut bool
	results := r.Results()
	if called != nil && results == nil && limit > 0 {
		arguments := "{}"
		if present(called.Parameters) {
			if arguments, err = exampleJSON(called.Parameters); err != nil {
				return nil, errValue("tools", "no example for the parameters of function %q: %v", called.Name, err)
			}
		}
		pieces, cut = splitTokens(arguments, limit)
		reply.Finish, reply.Calls = "tool_calls", []Call{{Name: called.Name, Arguments: pieces}}
	} else {
		text := model.fixed
		if results != nil {
			text = "The tool answered: " + strings.Join(results, "; ")
		} else if text == "" {
			text = r.Prompt().echo()
		}
		if text, err = r.Formatted(text); err != nil {
			return nil, err
		}
		text, reply.StopSequence = r.Stop.cut(text)
		pieces, cut = splitTokens(text, limit)
		reply.Text = pieces
	}
	if cut {
		reply.Finish, reply.StopSequence = "length", ""
	}
	if r.Thinks && limit > 0 {
		reply.Reasoning, _ = splitTokens(ThinkingText, limit)
		reply.ThinkingOmitted = r.ThinkingOmitted
	}
	thought := len(reply.Reasoning)
	reply.Usage = Usage{Input: r.inputTokens(), Output: reply.Choices*len(pieces) + thought, Reasoning: thought}
	return reply, nil
}
