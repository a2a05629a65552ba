// Erases a topic for good, on request, and shows that no file holds it any more.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"varve"
)

func main() {
	directory := "./memory"
	if len(os.Args) > 1 {
		directory = os.Args[1]
	}
	if err := run(directory); err != nil {
		log.Fatal(err)
	}
}

func run(directory string) error {
	store, err := varve.Open(directory, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	session, err := store.CreateSession(varve.SessionOptions{UserID: "ann"})
	if err != nil {
		return err
	}
	defer session.Close()

	_, err = session.AddBatch([]varve.Entry{
		{Type: "finding", Content: "Ann cannot take penicillin", Tags: []string{"health"}},
		{Type: "finding", Content: "Asked again: no penicillin", Tags: []string{"health.ann"}},
		{Type: "preference", Content: "Tea, not coffee", Tags: []string{"drinks"}},
	})
	if err != nil {
		return err
	}

	// Hidden at once from every reader in every process. The reason stays in the audit log, so it
	// must not repeat what is forgotten.
	health := varve.Query{Tags: varve.TagCondition{Include: []string{"health"}}}
	deleted, err := session.DeleteWhere(health, "request 4711")
	if err != nil {
		return err
	}
	fmt.Println("deleted:", deleted)

	// Gone for good: from log, index, quarantine and temporary files.
	if _, err := session.Purge(nil); err != nil {
		return err
	}
	left, err := filesWith(directory, "penicillin")
	if err != nil {
		return err
	}
	fmt.Println("files that hold it:", left)
	return nil
}

// filesWith counts the files below a directory that hold a word.
func filesWith(directory, word string) (count int, err error) {
	err = filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(text), []byte(word)) {
			count++
		}
		return err
	})
	return count, err
}
