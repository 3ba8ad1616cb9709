package chatongemini

import (
	"regexp"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// tools are the tools of a request and the choice among them.
type tools struct {
	list     []byte // functionDeclarations
	search   bool   // Google is searched
	both     bool   // search and functions, which a request must ask for
	mode     string // of the choice: AUTO, ANY or NONE; "" for the default
	names    []byte // of the functions that it requires, quoted, with commas
	required bool   // the choice requires a tool

	// allowed has the names of the functions to which the choice limits the request, nil for no limit.
	// A name is true when its function was found.
	allowed map[string]bool
}

// functionName is what Google takes.
var functionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$`)

// read reads tools, tool_choice and web_search_options.
func (w *tools) read(body translate.Object, m *model) error {
	if err := w.readChoice(body); err != nil {
		return err
	}
	if err := body.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error { return w.add(tool) }); err != nil {
		return err
	}
	for name, found := range w.allowed {
		if !found {
			return translate.NoSuchTool(name, "tool_choice")
		}
	}
	if len(w.list) == 0 && w.required {
		return translate.NoTools()
	}
	if w.search = body.Get("web_search_options") != nil; !w.search {
		return nil
	}
	if w.both = len(w.list) > 0; w.both && !m.signs() {
		return apierror.New(apierror.UnsupportedParameter, `this model does not take "web_search_options" together with "tools"; leave one of them out`).WithParam("web_search_options")
	}
	return nil
}

// add adds a function. Its schema goes as it is: parametersJsonSchema takes JSON Schema, and parameters
// only a part of it.
func (w *tools) add(tool translate.Object) error {
	o, quoted, err := translate.OpenFunction(tool)
	if err != nil {
		return err
	}
	name, _ := jsonscan.String(quoted)
	if !functionName.MatchString(name) {
		return translate.Invalid(o.Param("name"), "1 to 128 of letters, digits, _, ., : and -, and begin with a letter or _, for this model")
	}
	if w.allowed != nil {
		if _, ok := w.allowed[name]; !ok {
			return nil
		}
		w.allowed[name] = true
	}
	description, err := o.Text("description")
	if err != nil {
		return err
	}
	parameters, _, err := o.Object("parameters")
	if err != nil {
		return err
	}
	w.list = translate.AppendMember(append(translate.AppendComma(w.list), '{'), "name", quoted)
	if _, some := translate.Unquoted(description); some {
		w.list = translate.AppendMember(w.list, "description", description)
	}
	if err := w.putParameters(parameters); err != nil {
		return err
	}
	w.list = append(w.list, '}')
	return nil
}

// putParameters writes the schema of a function, unless it has no parameters: Google refuses an object
// without properties.
func (w *tools) putParameters(schema translate.Object) error {
	typ := schema.Get("type")
	if typ != nil && string(typ) != `"object"` {
		return translate.Invalid(schema.Param("type"), `"object"`)
	}
	properties, some, err := schema.Object("properties")
	if err != nil {
		return err
	}
	if empty := !some || string(translate.AppendObject(nil, properties)) == "{}"; empty && schema.Get("$ref") == nil && schema.Get("anyOf") == nil {
		return nil
	}
	w.list = translate.AppendObject(translate.AppendKey(w.list, "parametersJsonSchema"), schema)
	return nil
}

// readChoice reads tool_choice: a mode, one function, or a mode and the functions that are allowed.
func (w *tools) readChoice(body translate.Object) error {
	value := body.Get("tool_choice")
	if value == nil {
		return nil
	}
	if value[0] == '"' {
		mode, required, err := translate.ToolMode(body, "tool_choice")
		w.setMode(string(mode), required)
		return err
	}
	o, _, err := body.Object("tool_choice")
	if err != nil {
		return err
	}
	typ, err := o.Type()
	if err != nil {
		return err
	}
	switch typ {
	case "function":
		w.setMode("", true)
		return w.allow(o)
	case "allowed_tools":
		allowed, mode, required, err := translate.AllowedTools(o)
		if err != nil {
			return err
		}
		w.setMode(string(mode), required)
		return allowed.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error { return w.allow(tool) })
	}
	return translate.UnsupportedType(o, typ)
}

func (w *tools) setMode(mode string, required bool) {
	switch w.required = required; {
	case required:
		w.mode = "ANY"
	case mode == `"none"`:
		w.mode = "NONE"
	default:
		w.mode = "AUTO"
	}
}

// allow allows the function that a choice names.
func (w *tools) allow(choice translate.Object) error {
	if typ, err := choice.DecodedText("type"); err != nil || typ != "function" {
		return translate.UnsupportedType(choice, typ)
	}
	if err := choice.Only("type", "function"); err != nil {
		return err
	}
	o, err := choice.RequiredObject("function")
	if err != nil {
		return err
	}
	name, err := o.RequiredText("name")
	if err != nil {
		return err
	}
	if w.allowed == nil {
		w.allowed = map[string]bool{}
	}
	decoded, _ := jsonscan.String(name)
	w.allowed[decoded] = false
	w.names = append(translate.AppendComma(w.names), name...)
	return nil
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
	mode := w.mode
	if len(w.list) == 0 {
		mode = ""
	}
	if mode == "" && !w.both {
		return dst
	}
	dst = append(translate.AppendKey(dst, "toolConfig"), '{')
	if mode != "" {
		dst = translate.AppendTextMember(append(translate.AppendKey(dst, "functionCallingConfig"), '{'), "mode", []byte(mode))
		if mode == "ANY" && len(w.names) > 0 {
			dst = append(append(append(dst, `,"allowedFunctionNames":[`...), w.names...), ']')
		}
		dst = append(dst, '}')
	}
	if w.both {
		dst = append(translate.AppendKey(dst, "includeServerSideToolInvocations"), "true"...)
	}
	return append(dst, '}')
}
