// Package document reads the texts in JSON bodies and in the events of streams, and takes out what
// the rules of package detect find in them.
//
// A [Walker] goes through a body and visits every string, at any depth and under any name, except
// the exemptions listed in exemptions.go. So a member that an API adds tomorrow is read from its
// first day. A [Reader] runs the rules over each string and collects the [Edits] of the body. JSON
// inside a string, such as the arguments of a tool call, is read as decoded and stays JSON
// ([InnerJSON]).
package document
