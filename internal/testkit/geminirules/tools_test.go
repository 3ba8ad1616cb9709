package geminirules

import (
	"strings"
	"testing"
)

func TestToolsAndMediaAreRefusedAsGoogleRefusesThem(t *testing.T) {
	const said = `"contents":[{"role":"user","parts":[{"text":"x"}]}]`
	function := func(name string) string { return `"tools":[{"functionDeclarations":[{"name":"` + name + `"}]}]` }
	calling := func(config string) string { return `"toolConfig":{"functionCallingConfig":{` + config + `}}` }
	for members, want := range map[string]string{
		function("1st"):                    `Invalid function name "1st"`,
		function("a/b"):                    `Invalid function name "a/b"`,
		function(strings.Repeat("x", 129)): "Invalid function name",
		`"tools":[{"functionDeclarations":[{"name":"a"},{"name":"a"}]}]`: "Duplicate function declaration",
		calling(`"mode":"AUTO"`): "without function_declarations",
		function("a") + `,` + calling(`"mode":"AUTO","allowedFunctionNames":["a"]`): "only when function calling mode is ANY",
		function("a") + `,` + calling(`"mode":"ANY","allowedFunctionNames":["b"]`):  "should be a subset",
		function("a") + `,` + calling(`"mode":"ANY","allowedFunctionNames":["a"]`):  "",
		function("a.b:c-d"): "",
	} {
		check(t, said+","+members, want)
	}
	check(t, strings.Replace(said, `{"text":"x"}`, `{"inlineData":{"mimeType":"image/jpg","data":"eA=="}}`, 1), "Unsupported MIME type: image/jpg")
	check(t, strings.Replace(said, `{"text":"x"}`, `{"inlineData":{"mimeType":"image/jpeg","data":"eA=="}}`, 1), "")
}

func check(t *testing.T, members, want string) {
	t.Helper()
	err := Check("gemini-3-pro", []byte("{"+members+"}"))
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", members, err, want)
	}
}
