# The studio's page by npm, into STATIC; what is missing leaves a message and no page, never a failure.
# `npm install`, not `npm ci`, which fails where a registry lacks the binaries of other platforms.
foreach(command "install;--no-audit;--no-fund;--loglevel=error" "run;--silent;build")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env CREDO_STATIC=${STATIC} ${NPM} ${command}
    WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR} RESULT_VARIABLE failed OUTPUT_QUIET)
  if(failed)
    message(WARNING "npm could not build the studio's page; everything else works without it.")
    return()
  endif()
endforeach()
