package caddykit

import (
	"io/fs"
	"reflect"
)

var sources = map[string]fs.FS{}

// AddSource says in which Go files the options of a module are declared, and of others of its
// package. Their comments describe them. It must be called before the program begins.
func AddSource(module any, files fs.FS) { sources[reflect.TypeOf(module).PkgPath()] = files }

// Source returns the files of the package of a type, nil if it has added none.
func Source(t reflect.Type) fs.FS { return sources[t.PkgPath()] }
