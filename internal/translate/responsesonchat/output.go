package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// output reads the result of a call.
func (in *input) output(o translate.Reader) {
	id := o.RequiredText("call_id")
	in.result(o, id, in.content(o, "output", conversation.Text|in.to.Rules().Media&(conversation.Image|conversation.File)))
}

// result adds the result of a call. Those of one turn follow each other, whatever stands between
// them.
func (in *input) result(o translate.Reader, id []byte, parts []conversation.Part) {
	call := in.to.CallOf(id)
	if call == nil {
		o.Fail(translate.NoSuchCall(translate.Decoded(id), o.Param("call_id")))
		return
	}
	in.endTurn(o)
	in.to.Result(&conversation.ToolResult{Call: call, Parts: parts}, nil)
}

// searchOutput adds the tools that a search found, and tells the model their names.
func (in *input) searchOutput(o translate.Reader) {
	in.tools.addLoaded(o)
	id := o.Text("call_id")
	if id == nil || o.DecodedText("execution") == "server" { // another provider searched
		return
	}
	text := "No tools were found."
	if len(in.tools.loaded) > 0 {
		text = "These functions can be called now:"
	}
	for _, name := range in.tools.loaded {
		text += " " + translate.Decoded(name)
	}
	in.result(o, id, []conversation.Part{textPart(jsonscan.AppendString(nil, text))})
}
