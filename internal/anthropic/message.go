package anthropic

import (
	"bytes"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// message is what is known of the message of one call, in a whole answer or a stream.
type message struct {
	call  openai.Call
	model []byte // quoted, as asked
	usage Usage
	sum   openai.Summary
}

func newMessage(call openai.Call) message {
	return message{call: call, model: jsonscan.AppendString(nil, call.Model)}
}

// noUsage is what SDKs read of a server that reports none: Python's and TypeScript's fail without the
// object.
var noUsage = []byte(`{"input_tokens":0,"output_tokens":0}`)

// edit gives a message object the model's name as asked and, if it has none, a usage. It learns from
// the object: id, usage, stop reason, containers, and whether there is content.
func (m *message) edit(p *jsonscan.Patch, object []byte, members []jsonscan.Member) {
	model, usage := -1, -1
	for i, member := range members {
		value := member.Value(object)
		switch string(member.DecodedKey(object)) {
		case "model":
			if model >= 0 {
				p.Drop(model)
			}
			model = i
		case "id":
			if id, ok := jsonscan.String(value); ok && len(id) <= maxID {
				m.sum.UpstreamID = id
			}
		case "usage":
			usage = i
			m.readUsage(value)
		case "stop_reason":
			m.stop(value)
		case "container":
			m.reportContainer(value)
		case "content":
			if member.Kind != '[' {
				continue
			}
			for e := range jsonscan.AllElements(value) {
				m.block(e.Value(value))
			}
		}
	}
	switch {
	case model < 0:
		p.Add("model", m.model)
	case !bytes.Equal(members[model].Value(object), m.model):
		p.Set(model, m.model)
	}
	switch {
	case usage < 0:
		p.Add("usage", noUsage)
	case members[usage].Kind != '{':
		p.Set(usage, noUsage)
	}
}

func (m *message) readUsage(value []byte) {
	m.usage.Read(value)
	m.sum.Usage, m.sum.HasUsage = m.usage.OpenAI()
	m.sum.Later = 0
}

// stop notes why the message ended.
func (m *message) stop(value []byte) {
	if reason, ok := jsonscan.String(value); ok && len(reason) <= maxID {
		m.sum.NativeFinish, m.sum.Finish, m.sum.Finished = reason, openai.FinishReason(reason), 1
	}
}

// block notes a content block: whether it has content, and the files that a tool of the provider left
// in the account.
func (m *message) block(object []byte) {
	if object[0] != '{' {
		return
	}
	var typ string
	var signature, data []byte
	empty := true
	for member := range jsonscan.AllMembers(object) {
		value := member.Value(object)
		switch string(member.DecodedKey(object)) {
		case "type":
			typ, _ = jsonscan.String(value)
		case "text", "thinking":
			empty = empty && len(value) <= len(`""`)
		case "signature":
			signature = value
		case "data":
			data = value
		}
	}
	m.sum.Text = m.sum.Text || !empty || typ != "text" && typ != "thinking"
	switch typ {
	case "thinking":
		m.call.ReportSealed(signature)
	case "redacted_thinking":
		m.call.ReportSealed(data)
	}
	if m.call.OnID != nil && strings.HasSuffix(typ, "code_execution_tool_result") {
		m.reportFiles(object)
	}
}

// reportContainer reports the container in which the provider's tools ran: a later request may name
// it.
func (m *message) reportContainer(object []byte) {
	if m.call.OnID == nil || object[0] != '{' {
		return
	}
	for member := range jsonscan.AllMembers(object) {
		if string(member.DecodedKey(object)) == "id" {
			m.report(openai.KindContainer, member.Value(object))
		}
	}
}

// reportFiles reports the files in the result of a tool.
func (m *message) reportFiles(block []byte) {
	tokens := jsonscan.Walk(block)
	file := false // the last key was file_id
	for t, ok := tokens.Next(); ok; t, ok = tokens.Next() {
		value := block[t.Start:t.End]
		if t.Kind == '"' && file {
			m.report(openai.KindFile, value)
		}
		file = t.Kind == jsonscan.Key && string(value) == `"file_id"`
	}
}

func (m *message) report(kind openai.Kind, value []byte) {
	if id, ok := jsonscan.String(value); ok && len(id) <= openai.MaxStateID {
		m.call.Report(kind, id)
	}
}

// fault returns the failure that an error object of the provider reports. It notes the usage beside it.
func (m *message) fault(data []byte) *apierror.Error {
	if usage := openai.OpenObject(data, nil).Get("usage"); usage != nil {
		m.readUsage(usage)
	}
	return m.call.Fault(openai.ParseProviderError(data))
}
