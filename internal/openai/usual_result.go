package openai

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// usualResult is [ChatResult] for what most providers answer: one choice with a text, of which only
// the model's name must change. Of any other answer it reports false; the repair decides on it. It
// must give what the repair gives, byte for byte.
func usualResult(dst, body []byte, model string) ([]byte, Summary, bool) {
	var list [usualMembers]jsonscan.Member
	members, err := jsonscan.Lenient(body, list[:0])
	if err != nil {
		return dst, Summary{}, false
	}
	var sum Summary
	var found memberSet
	var named jsonscan.Member
	for _, m := range members {
		value, usual := m.Value(body), m.PlainKey()
		switch string(m.Key(body)) {
		case "id":
			sum.UpstreamID, _ = jsonscan.String(value)
			usual = usual && found.add(hasID) && len(value) <= maxID && sum.UpstreamID != ""
		case "object":
			usual = usual && found.add(hasObject) && bytes.Equal(value, objectResult)
		case "created":
			usual = usual && found.add(hasCreated) && isDigits(value)
		case "model":
			named = m
			usual = usual && found.add(hasModel)
		case "choices":
			usual = usual && found.add(hasChoices) && m.Kind == '[' && usualChoices(value, &sum)
		case "usage":
			sum.Usage, sum.HasUsage = ParseUsage(value)
			usual = usual && found.add(hasUsage)
		case "error":
			usual = false
		}
		if !usual {
			return dst, Summary{}, false
		}
	}
	if found|hasUsage != hasID|hasObject|hasCreated|hasModel|hasChoices|hasUsage {
		return dst, Summary{}, false
	}
	dst = append(dst, body[:named.ValueStart]...)
	dst = jsonscan.AppendString(dst, model)
	return append(dst, body[named.ValueEnd:]...), sum, true
}

// usualChoices reports whether a list has one choice, which needs no repair.
func usualChoices(list []byte, sum *Summary) bool {
	object, ok := cutBracket(list, '[')
	if !ok || len(object) == 0 || object[0] != '{' {
		return false
	}
	var inner [usualMembers / 2]jsonscan.Member
	var found memberSet
	end := 0
	for _, m := range jsonscan.Members(object, inner[:0]) {
		value, usual := m.Value(object), m.PlainKey()
		switch string(m.Key(object)) {
		case "index":
			usual = usual && found.add(hasIndex) && string(value) == "0"
		case "message":
			usual = usual && found.add(hasMessage) && m.Kind == '{' && usualMessage(value, sum)
		case "finish_reason":
			usual = usual && found.add(hasFinish) && m.Kind == '"' && usualFinish(value[1:len(value)-1], sum)
		case "error", "usage":
			usual = false
		}
		if !usual {
			return false
		}
		end = m.ValueEnd
	}
	rest, ok := cutBracket(object[end:], '}')
	return ok && string(rest) == "]" && found == hasIndex|hasMessage|hasFinish
}

// cutBracket returns what follows a bracket and the white space around it.
func cutBracket(text []byte, bracket byte) ([]byte, bool) {
	text = bytes.TrimLeft(text, jsonSpace)
	if len(text) == 0 || text[0] != bracket {
		return nil, false
	}
	return bytes.TrimLeft(text[1:], jsonSpace), true
}

const jsonSpace = " \t\r\n"

// usualFinish reports whether a finish reason is one of OpenAI's and no failure.
func usualFinish(reason []byte, sum *Summary) bool {
	word := finishWords[string(reason)]
	sum.Finish, sum.NativeFinish = word, word
	return word == string(reason) && word != "" && word != finishError
}

// usualMessage reports whether a message needs no repair, and has neither tool calls nor audio.
func usualMessage(object []byte, sum *Summary) bool {
	var inner [usualMembers / 2]jsonscan.Member
	var found memberSet
	for _, m := range jsonscan.Members(object, inner[:0]) {
		value, usual := m.Value(object), m.PlainKey()
		switch string(m.Key(object)) {
		case "role":
			usual = usual && found.add(hasRole) && bytes.Equal(value, jsonAssistant)
		case "content":
			usual = usual && found.add(hasContent)
			fallthrough
		case "reasoning", "reasoning_content":
			sum.Text = sum.Text || saysSomething(value)
		case "tool_calls", "audio":
			usual = usual && m.Kind == 'n'
		}
		if !usual {
			return false
		}
	}
	return found == hasRole|hasContent
}

// memberSet has the members of an answer that were found. A member that is there twice is not usual.
type memberSet uint16

const (
	hasID memberSet = 1 << iota
	hasObject
	hasCreated
	hasModel
	hasChoices
	hasUsage
	hasIndex
	hasMessage
	hasFinish
	hasRole
	hasContent
)

// add reports whether the member is new.
func (s *memberSet) add(m memberSet) bool {
	before := *s
	*s |= m
	return before&m == 0
}
