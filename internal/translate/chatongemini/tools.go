package chatongemini

import (
	"bytes"
	"regexp"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// tools are the tools of a request and the choice among them.
type tools struct {
	list   []byte // functionDeclarations
	search bool   // Google is searched
	both   bool   // search and functions, which a request must ask for
	choice translate.ToolChoice
}

// modes are the names of the modes of a choice.
var modes = map[string]string{"auto": "AUTO", "required": "ANY", "none": "NONE"}

// functionName is what Google takes.
var functionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$`)

// read reads tools, tool_choice and web_search_options.
func (w *tools) read(body translate.Reader, m *model) {
	w.choice = translate.ReadToolChoice(body)
	w.choice.LimitToOne()
	body.Each("tools", translate.MaxTools, func(_ int, tool translate.Reader) { w.add(tool) })
	some := len(w.list) > 0
	body.Fail(w.choice.Check(some))
	w.search = body.Get("web_search_options") != nil
	if w.both = w.search && some; w.both && !m.signs() {
		body.Fail(apierror.New(apierror.UnsupportedParameter, `this model does not take "web_search_options" together with "tools"; leave one of them out`).WithParam("web_search_options"))
	}
}

// add adds a function. Its schema goes as it is: parametersJsonSchema takes JSON Schema, and parameters
// only a part of it.
func (w *tools) add(tool translate.Reader) {
	o, quoted := translate.OpenFunction(tool)
	name, _ := jsonscan.String(quoted)
	if !functionName.MatchString(name) {
		o.Fail(translate.Invalid(o.Param("name"), "1 to 128 of letters, digits, _, ., : and -, and begin with a letter or _, for this model"))
	}
	if !w.choice.Allows(name) {
		return
	}
	w.list = translate.AppendMember(append(translate.AppendComma(w.list), '{'), "name", quoted)
	if description := translate.NonEmptyText(o, "description"); description != nil {
		w.list = translate.AppendMember(w.list, "description", description)
	}
	parameters, _ := o.Object("parameters")
	w.putParameters(parameters)
	w.list = append(w.list, '}')
}

// putParameters writes the schema of a function, unless it has no parameters: Google refuses an object
// without properties.
func (w *tools) putParameters(schema translate.Reader) {
	if typ := schema.Get("type"); typ != nil && string(typ) != `"object"` {
		schema.Fail(translate.Invalid(schema.Param("type"), `"object"`))
	}
	properties, some := schema.Object("properties")
	if some && string(translate.AppendObject(nil, properties)) != "{}" || schema.Get("$ref") != nil || schema.Get("anyOf") != nil {
		w.list = translate.AppendObject(translate.AppendKey(w.list, "parametersJsonSchema"), schema)
	}
}

// append appends the members that only a request with tools may have. Only a choice that requires a
// function can name those that it means; else the others are not sent.
func (w *tools) append(dst []byte) []byte {
	if len(w.list) == 0 && !w.search {
		return dst
	}
	dst = append(translate.AppendKey(dst, "tools"), '[')
	if len(w.list) > 0 {
		dst = append(append(append(dst, `{"functionDeclarations":[`...), w.list...), "]}"...)
	}
	if w.search {
		dst = append(translate.AppendComma(dst), `{"googleSearch":{}}`...)
	}
	dst = append(dst, ']')
	mode := modes[w.choice.Mode]
	if len(w.list) == 0 {
		mode = ""
	}
	if mode == "" && !w.both {
		return dst
	}
	dst = append(translate.AppendKey(dst, "toolConfig"), '{')
	if mode != "" {
		dst = translate.AppendTextMember(append(translate.AppendKey(dst, "functionCallingConfig"), '{'), "mode", []byte(mode))
		if names := w.choice.Names(); w.choice.Required() && len(names) > 0 {
			dst = append(append(append(dst, `,"allowedFunctionNames":[`...), bytes.Join(names, []byte{','})...), ']')
		}
		dst = append(dst, '}')
	}
	if w.both {
		dst = append(translate.AppendKey(dst, "includeServerSideToolInvocations"), "true"...)
	}
	return append(dst, '}')
}
