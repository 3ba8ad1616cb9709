package openai

import (
	"bytes"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ResponsesResult appends the body of a provider's whole Response as the client must get it: the
// model as asked, text about a failure redacted, all else as it came. call.OnID gets the ids in it
// first. A body that is not a Response is a [*apierror.Error]; a Response that failed is passed, and
// its failure is in the summary.
func ResponsesResult(dst, body []byte, call Call) ([]byte, Summary, error) {
	r := responses{call: call, model: jsonscan.AppendString(nil, call.Model)}
	fail := func(e *apierror.Error) ([]byte, Summary, error) {
		r.sum.Err = e
		return dst, r.sum, e
	}
	e := Event{Data: body}
	e.walk() // line ends may stay
	defer e.Release()
	if e.work.err != nil {
		return fail(call.Broken("answered what is not JSON").WithCause(e.work.err))
	}
	members := e.work.members
	i, ok := jsonscan.Find(body, members, "output")
	if !ok || members[i].Kind != '[' {
		if WalkedObject(body, members).failed() {
			return fail(r.sum.fault(&call, body))
		}
		return fail(call.Broken("answered with what is no response"))
	}
	output := members[i].Value(body)
	p := &e.work.patches[AtTop]
	p.Reset(body, members)
	r.edit(p, body, members)
	r.missing(p, body, members)
	r.addMetadata(p, body, members)
	r.call.ReportItems(output)
	if call.OnSealed != nil {
		for _, span := range jsonscan.Elements(output, nil) {
			r.reportSealed(span.Value(output))
		}
	}
	return p.Append(dst), r.sum, nil
}

// missing adds the keys that every client needs, and those that the family's SDKs need.
func (r *responses) missing(p *jsonscan.Patch, body []byte, members []jsonscan.Member) {
	if _, ok := jsonscan.Find(body, members, "object"); !ok {
		p.Add("object", []byte(`"response"`))
	}
	if _, ok := jsonscan.Find(body, members, "id"); !ok {
		p.Add("id", jsonscan.AppendString(nil, r.call.ID))
	}
	if _, ok := jsonscan.Find(body, members, "created_at"); !ok {
		p.Add("created_at", strconv.AppendInt(nil, r.call.Created, 10))
	}
	for _, d := range r.call.ResponseDefaults {
		if i, ok := jsonscan.Find(body, members, d.Key); !ok || members[i].Kind == 'n' && d.Value != "null" {
			put(p, body, members, d.Key, []byte(d.Value))
		}
	}
}

// responses repairs the response objects of one call, in a whole answer or a stream.
type responses struct {
	call  Call
	model []byte // quoted, as asked
	id    []byte // quoted, of the first object; later ones must not differ
	sum   Summary
	text  []byte // the error object of a failed response
}

// edit prepares a response object for the client and learns from it. It reports whether the object
// has an id.
func (r *responses) edit(p *jsonscan.Patch, object []byte, members []jsonscan.Member) bool {
	id, model := -1, -1
	var status, reason string
	for i, m := range members {
		value := m.Value(object)
		switch string(m.DecodedKey(object)) {
		case "id":
			one(p, &id, i)
		case "model":
			one(p, &model, i)
		case "status":
			status = word(value)
		case "usage":
			if u, ok := ParseUsage(value); ok {
				r.sum.Usage, r.sum.HasUsage = u, true
			}
		case "incomplete_details":
			reason = word(OpenObject(value, nil).Get("reason"))
		case "error":
			if truthy(value) {
				p.Set(i, r.failure(value))
			}
		}
	}
	if r.sum.HasUsage && r.sum.Usage.Completion == 0 && !r.sum.Text {
		r.sum.Text = hasOutput(object, members)
	}
	switch {
	case model < 0:
		p.Add("model", r.model)
	case !bytes.Equal(members[model].Value(object), r.model):
		p.Set(model, r.model)
	}
	if id >= 0 {
		r.useID(p, id, members[id].Value(object))
	}
	r.finish(status, reason)
	return id >= 0
}

// hasOutput reports whether a response object has an output item of another type than message, or a
// message with some text.
func hasOutput(object []byte, members []jsonscan.Member) bool {
	output := WalkedObject(object, members).Kind('[', "output", "")
	for _, span := range jsonscan.Elements(output, nil) {
		item := OpenObject(span.Value(output), nil)
		if typ := item.Get("type"); typ != nil && string(typ) != `"message"` {
			return true
		}
		content := item.Kind('[', "content", "")
		for _, span := range jsonscan.Elements(content, nil) {
			part := OpenObject(span.Value(content), nil)
			if part.Text("text") != nil || part.Text("refusal") != nil {
				return true
			}
		}
	}
	return false
}

func (r *responses) useID(p *jsonscan.Patch, i int, value []byte) {
	if r.id != nil {
		if !bytes.Equal(value, r.id) {
			p.Set(i, r.id)
		}
		return
	}
	id, ok := jsonscan.String(value)
	if !ok || id == "" || len(value) > maxID {
		r.id = jsonscan.AppendString(nil, r.call.ID)
		p.Set(i, r.id)
		return
	}
	r.id = append(r.id, value...)
	r.sum.UpstreamID = id
	r.call.Report(KindResponse, id)
}

// finish notes the end of a Response as a finish reason.
func (r *responses) finish(status, reason string) {
	switch status {
	case "completed":
		r.sum.Finish, r.sum.NativeFinish = "stop", status
	case "incomplete":
		r.sum.Finish, r.sum.NativeFinish = "length", reason
		if reason == "content_filter" {
			r.sum.Finish = reason
		}
	case "failed", "cancelled":
		r.sum.Finish, r.sum.NativeFinish = finishError, status
		if r.sum.Err == nil {
			r.sum.Err = r.call.Broken("failed while it answered")
		}
	}
}

// failure returns the error object that a client gets for a provider's.
func (r *responses) failure(value []byte) []byte {
	pe := ParseProviderError(value)
	r.sum.Err = r.call.Fault(pe)
	safe := pe.redacted(r.call.Redact)
	if safe.Code == "" {
		safe.Code = responseErrorCode(r.sum.Err)
	}
	if safe.Message == "" {
		safe.Message = r.sum.Err.Message
	}
	r.text = appendFailure(r.text[:0], safe.Code, safe.Message)
	return r.text
}

// ReportItems passes on the ids in an array of items.
func (c *Call) ReportItems(items []byte) {
	if c.OnID == nil {
		return
	}
	for e := range jsonscan.AllElements(items) {
		c.reportItem(e.Value(items))
	}
}

// reportItem reports an item, and the container it ran in: a later request may name both.
func (c *Call) reportItem(value []byte) {
	if c.OnID == nil || len(value) == 0 || value[0] != '{' {
		return
	}
	for _, m := range jsonscan.Members(value, nil) {
		switch string(m.DecodedKey(value)) {
		case "id":
			c.Report(KindItem, reported(m.Value(value)))
		case "container_id":
			c.Report(KindContainer, reported(m.Value(value)))
		}
	}
}

// addMetadata adds openrouter_metadata to a response that has ended.
func (r *responses) addMetadata(p *jsonscan.Patch, object []byte, members []jsonscan.Member) {
	if r.call.Metadata != nil {
		put(p, object, members, MetadataKey, r.call.Metadata())
	}
}

// reportSealed reports what is encrypted in a whole output item.
func (r *responses) reportSealed(value []byte) {
	if r.call.OnSealed == nil {
		return
	}
	for m := range jsonscan.AllMembers(value) {
		if string(m.DecodedKey(value)) == "encrypted_content" {
			r.call.ReportSealed(m.Value(value))
		}
	}
}

// reported returns an id to report, "" for one that a request could not name.
func reported(value []byte) string {
	if len(value) > MaxStateID {
		return ""
	}
	id, _ := jsonscan.String(value)
	return id
}

// responseErrorCode returns the code of a failure in the closed set of a Response's error.code.
func responseErrorCode(e *apierror.Error) string {
	if e.HTTPStatus() == 429 {
		return "rate_limit_exceeded"
	}
	return "server_error"
}
