package geminirules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	// functionName is what FunctionDeclaration.name says in google-genai 3.4.0: "Must start with a letter or
	// an underscore. Must be a-z, A-Z, 0-9, or contain underscores, dots, colons and dashes, with a maximum
	// length of 128."
	functionName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`)

	// imageTypes are those of ai.google.dev/gemini-api/docs/image-understanding. Others: "Unsupported MIME
	// type: image/jpg".
	imageTypes = []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}
)

// tools checks the functions, those that were called, and the choice of them.
func tools(_ string, request object) error {
	var names []any
	for i, tool := range objects(request, "tools") {
		for n, function := range objects(tool, "functionDeclarations") {
			name, _ := function["name"].(string)
			switch {
			case !functionName.MatchString(name):
				return fmt.Errorf("Invalid function name %q at tools[%d].function_declarations[%d].name", name, i, n)
			case slices.Contains(names, any(name)):
				return fmt.Errorf("Duplicate function declaration found: %s", name)
			}
			names = append(names, name)
		}
	}
	for i, content := range objects(request, "contents") {
		for _, call := range append(named(content, "functionCall"), named(content, "functionResponse")...) {
			if name, _ := call["name"].(string); !functionName.MatchString(name) {
				return fmt.Errorf("Invalid function name %q at contents[%d]", name, i)
			}
		}
	}
	config, _ := request["toolConfig"].(object)
	calling, some := config["functionCallingConfig"].(object)
	allowed, limited := calling["allowedFunctionNames"].([]any)
	switch mode := calling["mode"]; {
	case some && mode != "NONE" && len(names) == 0:
		return fmt.Errorf("Function calling config is set without function_declarations.")
	case limited && mode != "ANY" && mode != "VALIDATED":
		return fmt.Errorf("Allowed function names should be set only when function calling mode is ANY.")
	}
	for _, name := range allowed {
		if !slices.Contains(names, name) {
			return fmt.Errorf("allowed_function_names should be a subset of the functions declared in the tools field: %v", name)
		}
	}
	return nil
}

// media checks the types of images.
func media(_ string, request object) error {
	for i, content := range objects(request, "contents") {
		blobs := named(content, "inlineData")
		for _, response := range named(content, "functionResponse") {
			blobs = append(blobs, named(response, "inlineData")...)
		}
		for _, blob := range blobs {
			if kind, _ := blob["mimeType"].(string); strings.HasPrefix(kind, "image/") && !slices.Contains(imageTypes, kind) {
				return fmt.Errorf("Unsupported MIME type: %s (contents[%d])", kind, i)
			}
		}
	}
	return nil
}
