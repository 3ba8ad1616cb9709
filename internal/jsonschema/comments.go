package jsonschema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// Comments returns the comments of the types in Go files, by "Type", and of their fields, by
// "Type.Field".
func Comments(files fs.FS) (map[string]string, error) {
	names, err := fs.Glob(files, "*.go")
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path.Base(name), text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.TYPE {
				addComments(found, group)
			}
		}
	}
	return found, nil
}

func addComments(found map[string]string, group *ast.GenDecl) {
	for _, spec := range group.Specs {
		of := spec.(*ast.TypeSpec)
		found[of.Name.Name] = plain(group.Doc)
		body, ok := of.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range body.Fields.List {
			for _, name := range field.Names {
				text := plain(field.Doc)
				if text == "" {
					text = plain(field.Comment)
				}
				found[of.Name.Name+"."+name.Name] = text
			}
		}
	}
}

// plain is the text of a comment, each paragraph in one line.
func plain(comment *ast.CommentGroup) string {
	paragraphs := strings.Split(strings.TrimSpace(comment.Text()), "\n\n")
	for i, p := range paragraphs {
		if !strings.HasPrefix(p, "\t") { // not an example
			paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}
