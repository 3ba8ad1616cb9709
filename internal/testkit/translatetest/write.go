package translatetest

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// Write writes what a delta has to the stream of a client, as another translation does.
func Write(client completion.Target, dst []byte, d *openai.Delta) []byte {
	client.Resume(dst)
	if d.ID != nil {
		client.SetHead(d.ID, d.Created)
	}
	to := client.Content()
	text := func(quoted []byte, take func(piece []byte)) {
		if piece, ok := translate.Unquoted(quoted); ok {
			take(piece)
		}
	}
	if d.Role {
		to.Begin(false)
	}
	text(d.Reasoning, func(piece []byte) { to.Reasoning(piece, nil) })
	translate.EachObject(d.ReasoningDetails, func(detail []byte) { to.Reasoning(nil, detail) })
	text(d.Content, func(piece []byte) { to.Text(piece, nil) })
	translate.EachObject(d.Annotations, func(a []byte) { to.Citation(translate.ReadCitation(a)) })
	text(d.Refusal, to.Refusal)
	if c := d.Call; c != nil {
		if c.Begin {
			to.BeginCall(c.Index, c.Custom, c.ID, c.Name)
		}
		text(c.Arguments, func(piece []byte) { to.Arguments(c.Index, c.Custom, piece) })
	}
	if d.Finish != "" {
		client.Finish(ending(d))
	}
	return client.Pause()
}

func ending(d *openai.Delta) completion.Ending {
	e := completion.Ending{Finish: d.Finish, Stop: d.StopSequence, Tier: d.ServiceTier, HasUsage: d.Usage != nil}
	for key, count := range map[string]*int64{"prompt_tokens": &e.Usage.Prompt, "completion_tokens": &e.Usage.Completion, "total_tokens": &e.Usage.Total} {
		*count, _ = jsonscan.Int(translate.Member(d.Usage, key))
	}
	return e
}
