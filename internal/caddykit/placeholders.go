package caddykit

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// placeholder is what an operator expects Caddy to replace. Braces of other texts, such as a regular
// expression's, are none.
var placeholder = regexp.MustCompile(`\{(\$|(env|file|system|time|vars|http|tls|l4)\.)[^{}]+\}`)

// placeholdersTag is the tag of a field whose placeholders are replaced (`placeholders:"yes"`), or which
// refuses them with a reason of its own.
const placeholdersTag = "placeholders"

// CheckPlaceholders returns an error for a placeholder in a field of a module that does not replace it:
// {env.X} would be the name of a folder. A field that does has the tag placeholders.
func CheckPlaceholders(module any) error { return checkPlaceholders("", reflect.ValueOf(module)) }

func checkPlaceholders(option string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return checkPlaceholders(option, v.Elem())
		}
	case reflect.String:
		return refusePlaceholder(option, v.String())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 { // JSON of a module of Caddy
			return nil
		}
		for i := range v.Len() {
			if err := checkPlaceholders(option, v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			for _, part := range []reflect.Value{entries.Key(), entries.Value()} {
				if err := checkPlaceholders(option, part); err != nil {
					return err
				}
			}
		}
	case reflect.Struct:
		return checkFields(option, v)
	}
	return nil
}

func checkFields(option string, v reflect.Value) error {
	if name := v.FieldByName("Name"); name.IsValid() && name.Kind() == reflect.String {
		option = strings.TrimSpace(option + " " + name.String())
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		_, replaced := field.Tag.Lookup(placeholdersTag)
		if name == "" && !field.Anonymous || !field.IsExported() && !field.Anonymous {
			continue
		}
		of := option
		if name != "" && option != "" {
			of += ": "
		}
		if !replaced {
			if err := checkPlaceholders(of+name, v.Field(i)); err != nil {
				return err
			}
		} else if v.Field(i).Kind() == reflect.Map { // only the values of a header are
			for _, key := range v.Field(i).MapKeys() {
				if err := checkPlaceholders(of+name, key); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// refusePlaceholder returns an error if the text of an option has a placeholder.
func refusePlaceholder(option, text string) error {
	if !strings.Contains(text, "{") {
		return nil
	}
	found := placeholder.FindString(text)
	if found == "" {
		return nil
	}
	write := "{$NAME}"
	if name, ok := strings.CutPrefix(found, "{env."); ok {
		write = "{$" + name
	}
	return fmt.Errorf("%s: %s is not replaced in this option: write %s in the Caddyfile, or the value itself", option, found, write)
}
