// A click on a column's head sorts the table: the recipe of mkdocs-material, with tablesort.
document$.subscribe(() => {
  document.querySelectorAll("article table:not([class])").forEach((table) => new Tablesort(table))
})
