package conversation

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// checkResults refuses calls whose results are not as the target takes them. The target's own
// refusal does not say what to do.
func (c *Conversation) checkResults() {
	if c.rules.Results == AnyNumber {
		return
	}
	var open, before *ToolCall // one without a result in the turn of the model, and the call before
	answered := false          // a call of this turn has a result
	for _, call := range c.calls {
		if before == nil || !c.sameTurn(before, call) {
			open, answered = nil, false
		}
		before = call
		if call.results == 0 {
			open = call
		}
		answered = answered || call.results > 0
		switch {
		case call.results > 1:
			c.refuseResults(call, "the call %q has more than one result; send one")
			return
		case open != nil && (answered || c.rules.Results != AllOrNone):
			c.refuseResults(open, "the call %q has no result, which this model needs; add the result, or leave out the call")
			return
		}
	}
}

func (c *Conversation) refuseResults(call *ToolCall, problem string) {
	c.body.Fail(apierror.New(apierror.InvalidValue, problem, decoded(call.ID)).WithParam("messages"))
}

// sameTurn reports whether the target gets two calls in one turn, of which a is the one before b.
func (c *Conversation) sameTurn(a, b *ToolCall) bool {
	for i := a.turn; i <= b.turn; i++ {
		if c.Turns[i].Role != Assistant {
			return false
		}
	}
	return true
}

// orderResults puts results right behind their calls, as each provider demands it. Most requests
// have them there already.
func (c *Conversation) orderResults() {
	if c.inOrder() {
		return
	}
	results := map[int][]Turn{} // by the last turn of the model that has no other behind it
	ordered := make([]Turn, 0, len(c.Turns))
	for i := range c.Turns {
		if t := &c.Turns[i]; t.Role == Results {
			at := c.endOf(t.Parts[0].Result.Call.turn)
			results[at] = append(results[at], *t)
		}
	}
	for i, t := range c.Turns {
		if t.Role != Results {
			ordered = append(ordered, t)
		}
		ordered = append(ordered, results[i]...)
	}
	c.Turns = ordered
}

// inOrder reports whether only results stand between the results and the calls to which they
// answer.
func (c *Conversation) inOrder() bool {
	if len(c.calls) == 0 {
		return true
	}
	first := -1 // of the turns of the model to which results may answer
	for i := range c.Turns {
		switch t := &c.Turns[i]; {
		case t.Role == Assistant && (i == 0 || c.Turns[i-1].Role != Assistant):
			first = i
		case t.Role == Results && (first < 0 || t.Parts[0].Result.Call.turn < first):
			return false
		case t.Role == User || t.Role == System && c.rules.System != InFront:
			first = -1
		}
	}
	return true
}

// endOf returns the last of the turns of the model that follow each other.
func (c *Conversation) endOf(turn int) int {
	for turn+1 < len(c.Turns) && c.Turns[turn+1].Role == Assistant {
		turn++
	}
	return turn
}

// markFailures has the texts of results say that their tools failed, if the target has no field for
// it.
func (c *Conversation) markFailures() {
	if c.rules.Failures {
		return
	}
	const mark, alone = `"Error: `, `"Error:"`
	for i := range c.Turns {
		for _, p := range c.Turns[i].Parts {
			switch r := p.Result; {
			case r == nil || !r.Failed:
			case len(r.Parts) > 0 && r.Parts[0].Kind == Text:
				r.Parts[0].Text = append([]byte(mark), r.Parts[0].Text[1:]...)
			default:
				r.Parts = append([]Part{{Kind: Text, Text: []byte(alone)}}, r.Parts...)
			}
		}
	}
}

// placeSystem takes what the system says out of the turns, or has the user say it.
func (c *Conversation) placeSystem() {
	if c.rules.System == InPlace {
		return
	}
	turns, leading := c.Turns[:0], true
	for _, t := range c.Turns {
		switch leading = leading && t.Role == System; {
		case t.Role != System:
		case leading || c.rules.System == InFront:
			for _, p := range t.Parts {
				if c.rules.Texts != NotAllBlank || !isBlank(p.Text) {
					c.System = append(c.System, p)
				}
			}
			continue
		default:
			t.Role = User
		}
		turns = append(turns, t)
	}
	c.Turns = turns
}

// merge leaves out turns that say nothing, and makes one of those that follow each other, as the
// rules have it.
func (c *Conversation) merge() {
	if c.rules.Merge == Apart {
		return
	}
	turns := c.Turns[:0]
	for _, t := range c.Turns {
		if len(t.Parts) == 0 || c.rules.Texts == NotAllBlank && allBlank(t.Parts) {
			continue
		}
		if t.Role == Results && c.rules.Merge == WithResults {
			t.Role = User
		}
		if n := len(turns); n > 0 && turns[n-1].Role == t.Role {
			turns[n-1].Parts = append(turns[n-1].Parts, t.Parts...)
		} else {
			turns = append(turns, t)
		}
	}
	c.Turns = turns
	for i := range turns {
		sortResults(turns[i].Parts)
	}
	if c.rules.TrimEnd && c.Continues() {
		parts := turns[len(turns)-1].Parts
		if last := &parts[len(parts)-1]; last.Kind == Text {
			last.Text = jsonscan.AppendString(nil, strings.TrimRightFunc(decoded(last.Text), unicode.IsSpace))
		}
	}
}

// sortResults gives results, which stand in front, the order of their calls.
func sortResults(parts []Part) {
	n := slices.IndexFunc(parts, func(p Part) bool { return p.Kind != Result })
	if n < 0 {
		n = len(parts)
	}
	slices.SortStableFunc(parts[:n], func(a, b Part) int { return a.Result.Call.n - b.Result.Call.n })
}

// checkEnds refuses a conversation that says nothing, or that begins or ends as the target does not
// take it. If only the system says something, the user says it.
func (c *Conversation) checkEnds() {
	refuse := func(code apierror.Code, text string) {
		c.body.Fail(apierror.New(code, "%s", text).WithParam("messages"))
	}
	if len(c.Turns) == 0 && len(c.System) > 0 {
		c.Turns, c.System = []Turn{{Role: User, Word: "user", Parts: c.System}}, nil
	}
	switch {
	case len(c.Turns) == 0:
		refuse(apierror.InvalidValue, `"messages" needs a message of the user that is not blank for this model`)
	case c.rules.UserFirst && c.Turns[0].Role == Assistant:
		refuse(apierror.InvalidValue, `the first of "messages" that is not blank must be the user's for this model`)
	case c.rules.NoPrefill && c.Continues():
		refuse(apierror.UnsupportedParameter,
			`the last of "messages" is the assistant's, which this model does not continue; end with a message of the user`)
	}
}
