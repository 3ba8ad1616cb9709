package translate

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Functions reports whether a chat has functions, the older form of tools: functions and
// function_call in the request, messages of the role function, and function_call in the answer.
type Functions bool

// SecondFunction is the reason of a [ProviderFailure].
const SecondFunction = `answered with several calls, and a chat with "functions" can have one`

// AsTools returns a chat request with tools in the place of functions. Calls have no ids in the
// older form, so they are named after the place of their message: a longer conversation begins with
// the bytes of the shorter one.
func AsTools(body Reader) (chat Reader, functions Functions) {
	list, choice := body.Get("functions"), body.Get("function_call")
	older := choice != nil || list != nil && !noFunctions.Has("functions", list)
	if !older && !bytes.Contains(body.Get("messages"), []byte(`"function_call"`)) {
		return body, false
	}
	text := withTools(body, choice, older)
	if *body.failed != nil { // which has the caller's names
		return body, false
	}
	return OpenInside(body, text, ""), Functions(older)
}

func withTools(body Reader, choice []byte, older bool) (out []byte) {
	if older {
		for _, key := range []string{"tools", "tool_choice"} {
			if body.Get(key) != nil {
				body.Fail(apierror.New(apierror.InvalidValue, `%q cannot stand beside "functions" and "function_call", its older form`, key).WithParam(key))
			}
		}
		out = append(out, `{"parallel_tool_calls":false,"tools":[`...)
		body.Each("functions", MaxTools, func(_ int, o Reader) {
			out = append(AppendComma(out), `{"type":"function","function":`...)
			out = append(AppendObject(out, o), '}')
		})
		out = AppendOthers(append(out, ']'), body, "functions", "function_call", "messages", "tools", "tool_choice", "parallel_tool_calls")
	} else {
		out = AppendOthers(append(out, '{'), body, "messages")
	}
	if choice != nil && choice[0] == '{' {
		out = append(append(append(out, `,"tool_choice":{"type":"function","function":`...), choice...), '}')
	} else if choice != nil {
		out = AppendMember(out, "tool_choice", choice)
	}
	if body.Get("messages") != nil {
		out = append(AppendKey(out, "messages"), '[')
		ids := make(map[string]string) // of the last call, by the function's name
		body.Each("messages", MaxMessages, func(i int, o Reader) { out = appendWithTools(AppendComma(out), o, ids, i) })
		out = append(out, ']')
	}
	return append(out, '}')
}

// noFunctions is a list that asks for nothing.
var noFunctions = Neutral{"functions": {"[]"}}

// appendWithTools appends message i, with tool_calls for function_call and a role tool for function.
func appendWithTools(dst []byte, o Reader, ids map[string]string, i int) []byte {
	role := o.DecodedText("role")
	call, called := o.Object("function_call")
	switch {
	case role == "function":
		id, known := ids[o.DecodedText("name")]
		if !known {
			o.Fail(Invalid(o.Param("name"), `the name of a "function_call" in a message before`))
		}
		dst = AppendTextMember(append(dst, `{"role":"tool"`...), "tool_call_id", []byte(id))
		content := o.Get("content")
		if content == nil {
			content = []byte(`""`)
		}
		dst = AppendMember(dst, "content", content)
		return append(AppendOthers(dst, o, "role", "name", "tool_call_id", "content"), '}')
	case role == "assistant" && called && o.Get("tool_calls") == nil:
		call.RequiredText("name")
		call.RequiredText("arguments")
		name := call.DecodedText("name")
		ids[name] = "call_" + strconv.Itoa(i)
		dst = AppendOthers(append(dst, '{'), o, "function_call", "tool_calls")
		dst = append(dst, `,"tool_calls":[{"type":"function"`...)
		dst = AppendTextMember(dst, "id", []byte(ids[name]))
		return append(AppendMember(dst, "function", call.data), "}]}"...)
	}
	return AppendObject(dst, o)
}

// callerNames are the names of fields in the older form, by those that [AsTools] gave them.
var callerNames = strings.NewReplacer(
	"tool_choice.function", "function_call", "tool_choice", "function_call",
	"tool_calls[0].function", "function_call", "tools[", "functions[", "].function.", "].",
)

// Refusal returns the refusal of a chat request with the caller's names of fields.
func (f Functions) Refusal(err error) error {
	if !f {
		return err
	}
	return Renamed(err, callerNames.Replace)
}

// Finish is the reason of an answer that ends with calls.
func (f Functions) Finish() string {
	if f {
		return "function_call"
	}
	return "tool_calls"
}

// AppendCall appends the member function_call of a whole answer, whose arguments have no quotes.
func (f Functions) AppendCall(dst, name, arguments []byte) []byte {
	dst = append(AppendKey(dst, "function_call"), '{')
	dst = AppendMember(dst, "name", name)
	return append(AppendTextMember(dst, "arguments", arguments), '}')
}

// Stream returns the stream that the calls of a translation are written to.
func (f Functions) Stream(family openai.DeltaStream) openai.DeltaStream {
	if f {
		return functionStream{family}
	}
	return family
}

type functionStream struct{ openai.DeltaStream }

func (s functionStream) Write(dst []byte, d *openai.Delta) []byte {
	if d.Call != nil {
		d.Call.Function = true
	}
	return s.DeltaStream.Write(dst, d)
}
