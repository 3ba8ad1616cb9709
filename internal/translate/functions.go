package translate

import (
	"bytes"
	"slices"
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

func withTools(body Reader, choice []byte, older bool) []byte {
	var w Writer
	w.Object()
	if older {
		for _, key := range []string{"tools", "tool_choice"} {
			if body.Get(key) != nil {
				body.Fail(apierror.New(apierror.InvalidValue, `%q cannot stand beside "functions" and "function_call", its older form`, key).WithParam(key))
			}
		}
		w.BoolMember("parallel_tool_calls", false)
		w.Array("tools")
		body.Each("functions", MaxTools, func(_ int, o Reader) {
			w.Object()
			putFunction(&w, o.data)
			w.End()
		})
		w.End()
		putOthers(&w, body, "functions", "function_call", "messages", "tools", "tool_choice", "parallel_tool_calls")
	} else {
		putOthers(&w, body, "messages")
	}
	if choice != nil && choice[0] == '{' {
		w.Object("tool_choice")
		putFunction(&w, choice)
		w.End()
	} else {
		w.Member("tool_choice", choice)
	}
	if body.Get("messages") != nil {
		w.Array("messages")
		ids := make(map[string]string) // of the last call, by the function's name
		body.Each("messages", MaxMessages, func(i int, o Reader) { putWithTools(&w, o, ids, i) })
		w.End()
	}
	w.End()
	return w.Bytes()
}

// putFunction writes the members of a tool or of a choice.
func putFunction(w *Writer, function []byte) {
	w.StringMember("type", "function")
	w.Member("function", function)
}

// putOthers writes the members of o as they were written, without those of the keys.
func putOthers(w *Writer, o Reader, without ...string) {
	for _, m := range o.members {
		if key := string(m.Key(o.data)); !slices.Contains(without, key) {
			w.Member(key, m.Value(o.data))
		}
	}
}

// noFunctions is a list that asks for nothing.
var noFunctions = Neutral{"functions": {"[]"}}

// putWithTools writes message i, with tool_calls for function_call and a role tool for function.
func putWithTools(w *Writer, o Reader, ids map[string]string, i int) {
	role := o.DecodedText("role")
	call, called := o.Object("function_call")
	switch {
	case role == "function":
		id, known := ids[o.DecodedText("name")]
		if !known {
			o.Fail(Invalid(o.Param("name"), `the name of a "function_call" in a message before`))
		}
		w.Object()
		w.StringMember("role", "tool")
		w.StringMember("tool_call_id", id)
		if content := o.Get("content"); content != nil {
			w.Member("content", content)
		} else {
			w.StringMember("content", "")
		}
		putOthers(w, o, "role", "name", "tool_call_id", "content")
	case role == "assistant" && called && o.Get("tool_calls") == nil:
		call.RequiredText("name")
		call.RequiredText("arguments")
		name := call.DecodedText("name")
		ids[name] = "call_" + strconv.Itoa(i)
		w.Object()
		putOthers(w, o, "function_call", "tool_calls")
		w.Array("tool_calls")
		w.Object()
		w.StringMember("id", ids[name])
		putFunction(w, call.data)
		w.End()
		w.End()
	default:
		w.Raw(o.data)
		return
	}
	w.End()
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
