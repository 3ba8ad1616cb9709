// Package document reads the texts of JSON bodies, and of the events of
// streams, by rules of package detect, and takes out of them what those find.
//
// A [Walker] goes through a body and visits the strings that are texts: all of
// them, at any depth and under any name, but for the few in the table in
// exemptions.go. A [Reader] has each read by the rules, and collects the
// [Edits]. JSON in a string, as the arguments of tool calls are, is read as
// decoded and stays JSON ([InnerJSON]).
package document
